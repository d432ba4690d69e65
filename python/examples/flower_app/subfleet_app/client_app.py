"""What stock SuperNodes run: Subfleet's own trainer on the data that their --node-config names.

With a training function of one's own, the same takes five lines:

    def train(job):
        weights, examples, loss, accuracy = ...  # job.model, job.weights, job.epochs, job.batch, job.client_lr
        return subfleet.flower.Trained(weights, examples, loss, accuracy)

    app = subfleet.flower.client_app(train, input=(1, 28, 28), classes=62)
"""

import subfleet.flower

app = subfleet.flower.trainer_client_app()
