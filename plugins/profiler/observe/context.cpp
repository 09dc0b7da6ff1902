#include "observe/context.h"

#include "observe/record.h"

namespace lamella::profiler {
namespace {

std::atomic<int64_t> open_blocks{0};
std::atomic<void* (*)()> reader{nullptr};

}  // namespace

ContextBlock::ContextBlock(std::shared_ptr<const std::string> n) : name(std::move(n)) {
  open_blocks.fetch_add(1, std::memory_order_relaxed);
}

void ContextBlock::end() {
  if (!ended.exchange(true, std::memory_order_release)) open_blocks.fetch_sub(1, std::memory_order_relaxed);
}

const ContextBlocks* context_blocks() {
  if (!open_blocks.load(std::memory_order_relaxed)) return nullptr;
  void* (*read)() = reader.load(std::memory_order_relaxed);
  return read ? static_cast<const ContextBlocks*>(read()) : nullptr;
}

void set_context_reader(void* (*read)()) { reader.store(read); }

const ContextBlock* innermost_block(const ContextBlock* but_not) {
  const ContextBlocks* all = context_blocks();
  if (!all) return nullptr;
  for (auto b = all->rbegin(); b != all->rend(); ++b)
    if (b->get() != but_not && !(*b)->ended.load(std::memory_order_acquire)) return b->get();
  return nullptr;
}

lamella_status context_begin(const char* name, void** scope, void** blocks) {
  *scope = *blocks = nullptr;
  std::shared_ptr<ContextBlock> own;
  if (lamella_status st = begin_block(name, &own, scope)) return st;
  if (!own) return LAMELLA_OK;
  auto held = std::make_unique<ContextBlocks>();
  if (const ContextBlocks* around = context_blocks())
    for (const auto& b : *around)
      if (!b->ended.load(std::memory_order_acquire)) held->push_back(b);
  held->push_back(std::move(own));
  *blocks = held.release();
  return LAMELLA_OK;
}

void context_free(void* blocks) { delete static_cast<ContextBlocks*>(blocks); }

const char* parent_name(const lamella_record* r) {
  const Record* own = this_thread().current;
  while (own && &own->shared != r) own = own->outer;
  const ContextBlock* block = innermost_block(own ? own->context_block() : nullptr);
  for (const Record* around = own ? own->outer : nullptr; around; around = around->outer)
    if (const ContextBlock* b = around->context_block(); !b || b == block) return around->shared.name;
  return block ? block->name->c_str() : nullptr;
}

}  // namespace lamella::profiler
