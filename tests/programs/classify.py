"""A torch program: a convolutional net learns to distinguish synthetic pictures. Run by `lamella run`."""

import argparse
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    """Makes noisy pictures of stripes: across, down or along the diagonal."""

    def __init__(self, count, transform=None):
        self.labels = torch.randint(3, (count,))
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        label = self.labels[idx].item()
        row, column = torch.meshgrid(torch.arange(12), torch.arange(12), indexing="ij")
        place = (row, column, row + column)[label] + torch.randint(4, (1,)).item()
        image = (place % 4 < 2).float().unsqueeze(0) + 0.5 * torch.randn(1, 12, 12)
        if self.transform:
            image = self.transform(image)
        return image, label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.dropout1 = nn.Dropout2d(0.1)
        self.dropout2 = nn.Dropout(0.2)
        self.fc1 = nn.Linear(256, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)), inplace=True)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(self.dropout2(x)), dim=1)


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device, non_blocking=True), target.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            done, percent = batch_idx * len(data), 100.0 * batch_idx / len(loader)
            print(f"Train Epoch: {epoch} [{done}/{len(loader.dataset)} ({percent:.0f}%)]\tLoss: {loss.item():.6f}")


def test(model, device, loader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    test_loss /= len(loader.dataset)
    accuracy = 100.0 * correct / len(loader.dataset)
    print(f"Test set: Average loss: {test_loss:.4f}, Accuracy: {correct}/{len(loader.dataset)} ({accuracy:.0f}%)")
    return accuracy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--no-accel", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-interval", type=int, default=10)
    parser.add_argument("--save", default="classify.pt")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    torch.backends.cudnn.benchmark = True
    use_accel = not args.no_accel and torch.accelerator.is_available()
    device = torch.accelerator.current_accelerator() if use_accel else torch.device("cpu")
    kwargs = {"num_workers": args.workers, "pin_memory": torch.cuda.is_available(), "persistent_workers": True}

    train_loader = DataLoader(Stripes(512, lambda x: x / 1.5), batch_size=args.batch_size, shuffle=True, **kwargs)
    test_loader = DataLoader(Stripes(128, lambda x: x / 1.5), batch_size=64)
    model = Net().to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    best = 0
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        accuracy = test(model, device, test_loader)
        scheduler.step()
        if accuracy > best:
            best = accuracy
            torch.save({"epoch": epoch, "state_dict": model.state_dict(), "args": vars(args)}, args.save)

    checkpoint = torch.load(args.save, map_location=device, weights_only=True)
    again = Net().to(device)
    again.load_state_dict(checkpoint["state_dict"])
    assert test(again, device, test_loader) > 90
    print("best epoch", checkpoint["epoch"], "of", checkpoint["args"]["epochs"], os.path.basename(args.save))


if __name__ == "__main__":
    main()
