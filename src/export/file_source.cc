// SPDX-License-Identifier: MIT
#include "export/file_source.h"

#include <cstddef>
#include <vector>

#include "base/numbers/hash.h"
#include "export/sections.h"
#include "schedule/blocks/block.h"

namespace tacos {
namespace {

/// The blocks of a file one after the other, still encoded.
class BlockFile {
 public:
  BlockFile(const std::string& path, std::uint32_t num_links, std::uint64_t hash)
      : reader_(SectionReader::open(path)), num_links_(num_links), expected_(hash) {}

  /// The next block into `payload`; false at the end, and again for whoever asks again.
  [[nodiscard]] Result<bool> next(std::vector<std::byte>& payload) {
    if (!reader_) {
      return reader_.error();
    }
    while (!done_) {
      const Result<SectionTag> tag = reader_->next(payload);
      if (!tag) {
        return tag.error();
      }
      if (*tag == SectionTag::kTail) {
        done_ = true;
        if (hash_.value() != expected_) {
          return reader_->damaged("its blocks do not match its hash");
        }
      } else if (*tag == SectionTag::kBlock) {
        hash_.add(payload);
        return true;
      }
    }
    return false;
  }

  /// From any thread. `again` is for the block as it should be encoded.
  [[nodiscard]] Status decode(const std::vector<std::byte>& payload,
                              TransferBatch& batch,
                              std::vector<std::byte>& again) const {
    if (!BlockCodec::decode(payload, num_links_, batch)) {
      return reader_->damaged("a block makes no sense");
    }
    if (batch.empty()) {
      return reader_->damaged("a block is empty");
    }
    // Or equal schedules would have different hashes.
    again.clear();
    BlockCodec::encode(batch, num_links_, again);
    return again == payload ? ok() : Status(not_shortest());
  }
  [[nodiscard]] Error not_shortest() const {
    return reader_->damaged("a block is not in its shortest form");
  }

 private:
  Result<SectionReader> reader_;
  std::uint32_t num_links_;
  std::uint64_t expected_;
  StreamHash hash_;
  bool done_ = false;
};

class FileCursor final : public TransferCursor {
 public:
  explicit FileCursor(BlockFile file) : file_(std::move(file)) {}

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    const Result<bool> more = file_.next(payload_);
    if (!more || !*more) {
      return more ? ok() : Status(more.error());
    }
    if (Status decoded = file_.decode(payload_, batch, again_); !decoded) {
      return decoded;
    }
    if (last_) {
      return file_.not_shortest();
    }
    last_ = batch.size() < kBlockTransfers;
    return ok();
  }

 private:
  BlockFile file_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> again_;
  /// A block that is not full has been read.
  bool last_ = false;
};

/// A strip is a block, decoded by whoever reads it.
class FileStretches final : public Stretches {
 public:
  explicit FileStretches(BlockFile file) : file_(std::move(file)) {}

  [[nodiscard]] Result<bool> next(std::uint64_t most) override {
    if (num_strips_ > 0 && strips_[num_strips_ - 1].batch.size() < kBlockTransfers) {
      last_ = true;
    }
    num_strips_ = 0;
    while (num_strips_ == 0 || num_strips_ < most / kBlockTransfers) {
      if (num_strips_ == strips_.size()) {
        strips_.emplace_back();
      }
      const Result<bool> more = file_.next(strips_[num_strips_].payload);
      if (!more || !*more) {
        return more ? Result<bool>(num_strips_ > 0) : more;
      }
      if (last_) {
        return file_.not_shortest();
      }
      ++num_strips_;
    }
    return true;
  }
  [[nodiscard]] std::size_t num_strips() const override { return num_strips_; }
  [[nodiscard]] Status read(std::size_t strip, StripSink& sink) override {
    Strip& own = strips_[strip];
    if (Status decoded = file_.decode(own.payload, own.batch, own.again); !decoded) {
      return decoded;
    }
    if (own.batch.size() < kBlockTransfers && strip + 1 < num_strips_) {
      return file_.not_shortest();
    }
    sink.add(own.batch);
    return ok();
  }

 private:
  struct Strip {
    std::vector<std::byte> payload;
    TransferBatch batch;
    std::vector<std::byte> again;
  };
  BlockFile file_;
  /// More than there are now, to be filled again.
  std::vector<Strip> strips_;
  std::size_t num_strips_ = 0;
  /// A block that is not full has been read.
  bool last_ = false;
};

}  // namespace

std::unique_ptr<TransferCursor> FileSource::cursor() const {
  return std::make_unique<FileCursor>(BlockFile(path_, num_links_, hash_));
}

std::unique_ptr<Stretches> FileSource::stretches(int /*threads*/) const {
  return std::make_unique<FileStretches>(BlockFile(path_, num_links_, hash_));
}

}  // namespace tacos
