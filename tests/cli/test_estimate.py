import json

from metapn.bench.estimate import Size, Speeds


def test_the_command_prints_what_the_formulae_say(metapn):
    given = ("--nodes", "1e9", "--edges", "1e10", "--classes", 16, "--hops", 10, "--workers", 16)
    code, out, err = metapn("estimate", *given, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == Size(10**9, 10**10, 16, 10, workers=16).estimate(Speeds())
    code, out, _ = metapn("estimate", *given)
    assert code == 0
    assert "1,000,000,000 nodes, 10,000,000,000 edges, 16 classes, 10 hops on 16 machines (engine ray)" in out
    code, out, _ = metapn("estimate", "--nodes", "2e7", "--edges", "1e8")
    assert "one machine (engine disk)" in out
    assert "network" not in out
    code, _, err = metapn("estimate", "--nodes", "2e7", "--edges", "1e8", "--gather", "0")
    assert (code, err) == (2, "Error: --gather 0 is no speed; give more than 0\n")
