from types import SimpleNamespace

import pytest
import torch

from metapn.model.training import EarlyStopping, History, KeepLast, Learner, Settled, stopping_rule, train, train_all


class Counter(Learner):
    """A learner with one weight, the number of its epochs, changed in place; `script` tells what it predicts then."""

    def __init__(self, script=lambda epoch: torch.eye(2)):
        self.weight, self.script = torch.zeros(1), script

    def epoch(self):
        self.weight += 1
        return 1 / float(self.weight)

    def weights(self):
        return [self.weight]

    def predict(self):
        return self.script(float(self.weight))


def stops_early(chances, patience, max_epochs=50):
    """Train with the chance that each of two validation nodes, 1 and 3, gives its true class, epoch by epoch."""

    def script(epoch):
        p = torch.full((4, 2), 0.5)
        for node, label, chance in zip((1, 3), (0, 1), chances[min(round(epoch), len(chances)) - 1], strict=True):
            p[node, label], p[node, 1 - label] = chance, 1 - chance
        return p

    learner = Counter(script)
    rule = EarlyStopping(torch.tensor([1, 3]), torch.tensor([0, 1]), patience)
    return learner, train(learner, rule, max_epochs=max_epochs)


def test_the_best_weights_are_a_true_copy():
    learner, history = stops_early([(0.6, 0.2), (0.4, 0.4), (0.9, 0.8), (0.7, 0.4), (0.1, 0.1)], patience=4)
    assert learner.weight.tolist() == [3]
    assert history.best_epoch == 3
    assert len(history.loss) == 7
    assert history.stopped_because == "4 epochs brought nothing better on the validation nodes"
    assert history.validation_accuracy == [0.5, 0, 1, 0.5, 0, 0, 0]
    assert history.validation_loss[2] == pytest.approx(-float(torch.tensor([0.9, 0.8]).log().mean()))


def test_among_equal_accuracies_the_lowest_loss_wins_and_the_first_of_equals():
    learner, history = stops_early([(0.8, 0.8), (0.9, 0.9), (0.7, 0.7), (0.9, 0.9), (0.2, 0.2)], patience=3)
    assert learner.weight.tolist() == [2]
    assert history.best_epoch == 2
    assert len(history.loss) == 7


def test_a_lower_loss_at_a_lower_accuracy_is_not_kept_but_goes_on():
    # Accuracy 1, 0.5, 0.5, ...; the loss falls twice more while the accuracy is lower, then rises.
    learner, history = stops_early([(0.51, 0.51), (0.99, 0.49), (0.995, 0.495), (0.9, 0.1)], patience=2)
    assert learner.weight.tolist() == [1]
    assert len(history.loss) == 5


def test_a_tie_in_accuracy_or_in_loss_resets_patience():
    _, accuracy = stops_early([(0.9, 0.9)] + [(0.6, 0.6)] * 30, patience=2, max_epochs=20)
    assert len(accuracy.loss) == 20
    assert accuracy.stopped_because == "it reached max_epochs"
    worse = (0.9, 0.2)
    _, loss = stops_early([(0.6, 0.6), worse, (0.6, 0.6), worse, (0.6, 0.6), worse], patience=2)
    assert len(loss.loss) == 7


def test_a_certain_mistake_has_a_finite_loss():
    _, history = stops_early([(0.0, 1.0)], patience=1, max_epochs=3)
    assert history.validation_loss[0] == pytest.approx(0.5 * 12 * 2.302585, rel=1e-4)


def settled(**settings):
    """The rule with two gold nodes of one class, of which `Counter`'s predictions always have one right."""
    return Settled(torch.tensor([0, 1]), torch.tensor([0, 0]), **settings)


def averages(epochs, decay=0.97):
    """Averaged weight after each epoch, of a learner whose weight is the number of its epochs."""
    mean, result = 1.0, []
    for t in range(1, epochs + 1):
        d = min(decay, t / (t + 10))
        mean = d * mean + (1 - d) * t
        result.append(mean)
    return result


def test_settled_predictions_end_training_and_the_average_is_kept():
    learner = Counter()
    history = train(learner, settled(), max_epochs=100)
    assert len(history.loss) == 20
    assert history.changed == [1, 0]
    assert learner.weight.tolist() == pytest.approx([averages(20)[-1]], rel=1e-5)
    assert history.best_epoch == 20
    assert history.stopped_because == "fewer than 0.5% of the nodes changed their label in 10 epochs"


def test_it_is_the_average_that_must_settle_and_training_goes_on_from_its_own_weights():
    seen = []

    def script(weight):
        seen.append(weight)
        return torch.eye(2) if len(seen) < 4 and len(seen) % 2 else torch.eye(2).flip(0)

    learner = Counter(script)
    history = train(learner, settled(decay=0.9, window=5), max_epochs=100)
    assert seen == pytest.approx([averages(25, 0.9)[i] for i in (4, 9, 14, 19, 24)], rel=1e-5)
    assert history.changed == [1, 1, 1, 1, 0]
    assert history.loss == pytest.approx([1 / t for t in range(1, 26)])


def test_a_share_of_changes_at_the_tolerance_is_not_settled():
    labels = [torch.eye(2)[[0, 0, 0, 0]], torch.eye(2)[[0, 0, 0, 1]], torch.eye(2)[[0, 0, 0, 1]]]
    learner = Counter(lambda _: labels.pop(0))
    history = train(learner, settled(window=1, tolerance=0.25), max_epochs=10)
    assert history.changed == [1, 0.25, 0]


def test_what_has_not_learned_its_gold_labels_is_not_settled():
    # Class 0 for all four nodes until epoch 30, of which one gold node in three is; then two of three are right.
    def script(weight):
        return torch.eye(2)[[0, 0, 0, 0] if weight < averages(30)[-1] - 1e-3 else [0, 1, 0, 0]]

    rule = Settled(torch.tensor([0, 1, 2]), torch.tensor([0, 1, 1]))
    history = train(Counter(script), rule, max_epochs=100)
    assert history.changed == [1, 0, 0.25, 0]
    assert len(history.loss) == 40


def test_predicting_by_other_weights_leaves_the_learners_own():
    learner = Counter(lambda weight: torch.full((1, 2), weight))
    learner.epoch()
    assert learner.predict_with([torch.tensor([7.0])]).tolist() == [[7, 7]]
    assert learner.weight.tolist() == [1]
    assert learner.predict().tolist() == [[1, 1]]


class Together:
    """Several counters as a group; keeps what it was told to retire, with the weights they ended with."""

    def __init__(self, counters):
        self.members, self.retired = list(counters), []

    def epoch(self):
        return [member.epoch() for member in self.members]

    def retire(self, places):
        self.retired.append([(self.members[place], self.members[place].weight.item()) for place in places])
        self.members = [member for place, member in enumerate(self.members) if place not in places]


class StopAt:
    """Stop after so many epochs, and keep a weight of its own."""

    def __init__(self, epochs):
        self.epochs = epochs

    def update(self, member, history):
        assert member.weight.item() == len(history.loss)  # the member of this very run
        return len(history.loss) == self.epochs

    def finish(self, member, history):
        member.weights()[0].fill_(100 + self.epochs)
        history.best_epoch = self.epochs


def test_of_several_runs_each_stops_by_its_own_rule_and_retires_with_its_final_weights():
    counters = [Counter() for _ in range(5)]
    group, calls = Together(counters), []
    lengths = [3, 1, 99, 3, 4]
    histories = train_all(
        group, [StopAt(n) for n in lengths], max_epochs=6, on_epoch=lambda done, most: calls.append((done, most))
    )
    assert [len(history.loss) for history in histories] == [3, 1, 6, 3, 4]
    assert [history.best_epoch for history in histories] == lengths
    assert all(history.loss == [1 / t for t in range(1, len(history.loss) + 1)] for history in histories)
    one, two, three, four, five = counters
    assert group.retired == [[(two, 101)], [(one, 103), (four, 103)], [(five, 104)], [(three, 199)]]
    assert calls == [(t, 6) for t in range(1, 7)]
    assert all(history.seconds > 0 for history in histories)


def test_training_ends_with_the_last_run():
    calls = []
    train_all(
        Together([Counter(), Counter()]),
        [StopAt(2), StopAt(3)],
        max_epochs=50,
        on_epoch=lambda done, most: calls.append(done),
    )
    assert calls == [1, 2, 3]


def test_max_epochs_ends_what_never_settles():
    flips = iter(range(1000))
    learner = Counter(lambda _: torch.eye(2).roll(next(flips), 0))
    history = train(learner, settled(window=2), max_epochs=9)
    assert len(history.loss) == 9
    assert history.stopped_because == "it reached max_epochs"
    assert learner.weight.tolist() == pytest.approx([averages(9)[-1]], rel=1e-5)


def test_keep_last_keeps_the_last():
    learner = Counter()
    history = train(learner, KeepLast(), max_epochs=4)
    assert learner.weight.tolist() == [4]
    assert history.best_epoch == 4


def test_each_epoch_is_announced():
    calls = []
    train(Counter(), settled(), max_epochs=30, on_epoch=lambda done, most: calls.append((done, most)))
    assert calls == [(t, 30) for t in range(1, 21)]


def test_validation_nodes_decide_which_rule():
    nodes = torch.tensor([0])
    with_nodes = SimpleNamespace(validation=nodes, validation_labels=nodes)
    without = SimpleNamespace(validation=None, validation_labels=None, gold=nodes, gold_labels=nodes)
    assert isinstance(stopping_rule(with_nodes, 7), EarlyStopping)
    assert stopping_rule(with_nodes, 7).patience == 7
    assert isinstance(stopping_rule(without, 7), Settled)


def test_a_fresh_history_is_empty():
    assert History() == History([], [], [], [], 0, "it reached max_epochs", 0.0)
