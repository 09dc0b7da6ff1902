"""A torch program: a graph network separates the groups of a synthetic graph. Run by `lamella run`."""

import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class GraphConvolution(Module):
    """A layer: each node sums its neighbours' features, and a matrix maps the sums."""

    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        for p in self.parameters():
            p.data.uniform_(-stdv, stdv)

    def forward(self, x, edges, norm):
        x = torch.mm(x, self.weight)
        source, target = edges
        out = torch.zeros_like(x).index_add_(0, target, x[source] * norm.unsqueeze(-1))
        return out if self.bias is None else out + self.bias

    def __repr__(self):
        return f"{self.__class__.__name__} ({self.in_features} -> {self.out_features})"


class GCN(torch.nn.Module):
    def __init__(self, features, hidden, classes, dropout):
        super().__init__()
        self.gc1 = GraphConvolution(features, hidden)
        self.gc2 = GraphConvolution(hidden, classes)
        self.dropout = dropout

    def forward(self, x, edges, norm):
        x = F.relu(self.gc1(x, edges, norm))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, edges, norm), dim=1)


def made_graph(nodes, classes, rng):
    labels = rng.integers(0, classes, nodes)
    likely = np.where(labels[:, None] == labels[None], 0.08, 0.01)
    adjacency = np.triu(rng.random((nodes, nodes)) < likely, 1)
    edges = np.stack(np.nonzero(adjacency | adjacency.T | np.eye(nodes, dtype=bool)))
    features = rng.standard_normal((nodes, 8)) + 0.5 * np.eye(8)[labels]
    return torch.FloatTensor(features), torch.LongTensor(labels), torch.as_tensor(edges).long()


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    return correct.sum() / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    features, labels, edges = made_graph(200, 3, np.random.default_rng(args.seed))
    degree = torch.zeros(200).scatter_add_(0, edges[1], torch.ones(edges.size(1)))
    assert torch.equal(degree, torch.bincount(edges[1], minlength=200).float())
    norm = degree.pow(-0.5)
    norm[torch.isinf(norm)] = 0
    norm = norm[edges[0]] * norm[edges[1]]
    train, test = torch.arange(60), torch.LongTensor(range(60, 200))
    model = GCN(features.shape[1], 16, int(labels.max()) + 1, 0.3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-3)
    print(model)
    for epoch in range(args.epochs):
        model.train()
        optimizer.zero_grad()
        loss = F.nll_loss(model(features, edges, norm)[train], labels[train])
        loss.backward()
        optimizer.step()
        if epoch % 25 == 0:
            print(f"epoch: {epoch:03d}", f"loss: {loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        output = model(features, edges, norm)
    print(f"test accuracy: {accuracy(output[test], labels[test]).item():.3f}")


if __name__ == "__main__":
    main()
