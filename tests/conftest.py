"""One thread, and Ray's actors and tasks without its processes."""

import sys
from contextlib import contextmanager
from types import ModuleType

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """On small matrices more threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class _Call:
    """A method or function whose ``.remote`` runs at once and returns its result, or a list of results."""

    def __init__(self, function, n_results=1):
        self.function, self.n_results = function, n_results

    def options(self, num_returns):
        return _Call(self.function, num_returns)

    def remote(self, *arguments):
        result = self.function(*arguments)
        return list(result) if self.n_results > 1 else result


class _Actor:
    def __init__(self, instance):
        self._instance = instance

    def __getattr__(self, name):
        return _Call(getattr(self._instance, name))


class _ActorClass:
    def __init__(self, of):
        self.of = of

    def remote(self, *arguments):
        return _Actor(self.of(*arguments))


def _remote(function=None, **options):
    if function is not None:
        return _Call(function)
    return _ActorClass


@contextmanager
def _ray_in_this_process(n_workers):
    ray = ModuleType("ray")
    ray.remote, ray.get, ray.kill = _remote, list, lambda actor: None
    ray.is_initialized, ray.nodes = lambda: True, lambda: [{"NodeID": "this", "Alive": True}]
    ray.cluster_resources = lambda: {"CPU": float(n_workers)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ray", ray)
        yield


@pytest.fixture(scope="session")
def ray_in_this_process():
    """Replace the module ``ray`` by one that does all in this process, as a cluster of so many CPUs."""
    return _ray_in_this_process
