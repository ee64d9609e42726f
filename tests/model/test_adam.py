"""Adam on stacked arrays against torch's own, run by run."""

import pytest
import torch

from metapn.model.adam import Adam

SHAPES = [(3, 5, 2), (3, 1, 4)]


def drawn(seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in SHAPES]


def theirs(places, steps, l2):
    """The same steps by torch.optim, each run by an optimiser of its own."""
    moved = []
    for place in places:
        rows = [each[place].clone().requires_grad_() for each in drawn(0)]
        optimiser = torch.optim.Adam(rows, lr=0.1, weight_decay=l2)
        for step in range(1, steps + 1):
            for row, gradient in zip(rows, drawn(step), strict=True):
                row.grad = gradient[place]
            optimiser.step()
        moved.append([row.detach() for row in rows])
    return [torch.stack(each) for each in zip(*moved, strict=True)]


@pytest.mark.parametrize("run_by_run", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_steps_are_those_of_torch_and_runs_that_stay_go_on_as_they_were(run_by_run, l2):
    arrays = drawn(0)
    adam, places = Adam(arrays, learning_rate=0.1, l2=l2, run_by_run=run_by_run), [0, 1, 2]
    for step in range(1, 7):
        if step == 4:
            places = [2, 0]
            arrays = adam.keep(places)
        gradients = [each[places] for each in drawn(step)]
        adam.step([row for each in gradients for row in each] if run_by_run else gradients)
    for ours, expected in zip(arrays, theirs(places, 6, l2), strict=True):
        torch.testing.assert_close(ours, expected)


def test_a_gradient_may_lie_in_memory_in_any_order():
    straight, turned = (Adam(drawn(0), learning_rate=0.1) for _ in range(2))
    straight.step(drawn(1))
    turned.step([gradient.mT.contiguous().mT for gradient in drawn(1)])
    for one, other in zip(straight.arrays, turned.arrays, strict=True):
        assert torch.equal(one, other)


def test_the_arrays_themselves_are_moved():
    arrays = drawn(0)
    adam = Adam(arrays, learning_rate=0.1)
    adam.step(drawn(1))
    assert adam.arrays[0] is arrays[0]
    assert not torch.equal(arrays[0], drawn(0)[0])
