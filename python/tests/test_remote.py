"""Fleets behind a transport in Python."""

import unittest

import numpy as np
import subfleet
from support import config


class Here:
    """A transport to clients that are in this process after all; `spoil` is told of each answer before it is sent."""

    def __init__(self, settings, spoil=lambda client, update: update):
        self.runner = subfleet.JobRunner(settings, clients=(0, settings["data.writers"] - 1))
        self.spoil, self.arrivals, self.moved, self.outcomes = spoil, [], {}, []

    def send(self, number, kind, client, job):
        assert kind == "train"
        update = self.spoil(client, self.runner.run(job))
        if update is None:
            self.arrivals.append(subfleet.Arrival.lost(number, "gone"))
        else:
            self.arrivals.append(subfleet.Arrival.reply(number, update))
        self.moved[number] = len(job), len(update or b"")

    def next(self, seconds):
        return self.arrivals.pop() if self.arrivals else None  # the last comes first

    def close(self, number):
        return self.moved.pop(number)

    def on_result(self, number, outcome, why):
        self.outcomes.append((outcome, why))


class Remote(unittest.TestCase):
    def test_a_remote_fleet_has_the_bits_of_a_local_one(self):
        for codecs in ({}, {"wire_down": "rot4", "wire_up": "rot1"}):
            settings = config(**codecs)
            expected = subfleet.Run(settings)
            expected.train()
            transport = Here(settings)
            run = subfleet.Run(settings, fleet=subfleet.RemoteFleet(settings, transport))
            records = []
            run.train(callback=lambda _, record: records.append(record))
            np.testing.assert_array_equal(run.weights, expected.weights)
            self.assertEqual({outcome for outcome, _ in transport.outcomes}, {"trained"})
            self.assertIsNotNone(records[-1].test_accuracy)

    def test_what_clients_do_wrong_is_counted(self):
        settings = config(round_min_replies=0.0)
        chosen = subfleet.sample_clients(settings, 1, 12)

        def spoil(client, update):
            return {chosen[0]: None, chosen[1]: b"garbage"}.get(client, update)

        transport = Here(settings, spoil)
        record = subfleet.Run(settings, fleet=subfleet.RemoteFleet(settings, transport)).step()
        self.assertEqual(record.outcomes, {"trained": 2, "diverged": 0, "lost": 1, "late": 0, "rejected": 1})
        self.assertIn(("lost", "gone"), transport.outcomes)

    def test_a_server_without_data_trains_and_tests_nothing(self):
        settings = config()
        fleet = subfleet.RemoteFleet(settings, Here(settings), clients=12, test=False)
        run = subfleet.Run(settings, fleet=fleet)
        self.assertEqual(run.step().outcomes["trained"], 4)
        self.assertEqual(run.evaluate().examples, 0)
        self.assertIsNone(run.evaluate().accuracy)
        self.assertIsNone(run.evaluate().loss)
        self.assertIn("no examples", repr(run.evaluate()))
        with self.assertRaisesRegex(subfleet.RequestError, "clients: must be given"):
            subfleet.RemoteFleet(settings, Here(settings), test=False)

    def test_what_a_transport_raises_ends_the_round_and_leaves_the_run(self):
        settings = config()

        def spoil(client, update):
            raise KeyError("the network")

        run = subfleet.Run(settings, fleet=subfleet.RemoteFleet(settings, Here(settings, spoil)))
        before = np.array(run.weights)
        with self.assertRaisesRegex(KeyError, "the network"):
            run.step()
        self.assertEqual(run.round, 0)
        np.testing.assert_array_equal(run.weights, before)

    def test_a_transport_that_answers_nonsense_is_told(self):
        settings = config()
        for method, answer in (("next", 3), ("next", b"x"), ("close", None), ("close", (-1, 0))):
            transport = Here(settings)
            setattr(transport, method, lambda *_: answer)
            run = subfleet.Run(settings, fleet=subfleet.RemoteFleet(settings, transport))
            with self.assertRaisesRegex(subfleet.Error, rf"transport: {method}\(\) must return"):
                run.step()
        with self.assertRaisesRegex(subfleet.Error, r"transport: has no method send\(\)"):
            subfleet.RemoteFleet(settings, object())


if __name__ == "__main__":
    unittest.main()
