// The states of a stream: what is to be done next and when, and when a failure is told. README.md has them as a table. Knows
// nothing of networks; the time is told to it.
#pragma once

#include <cstdint>
#include <random>

namespace muster::kubernetes {

constexpr int64_t kSecond_ns = 1'000'000'000;

// The longest wait for an answer to begin, and between two of its pieces: of a list, or of an object that is read.
constexpr int64_t kAnswerTimeout_ns = 10 * kSecond_ns;
// A stream that ends sooner, with nothing new, has ended at once. No two streams, and no two lists, begin within less.
constexpr int64_t kMoment_ns = kSecond_ns;
// After so long without a word a stream is called quiet.
constexpr int64_t kQuietPeriod_ns = 30 * kSecond_ns;
// After a failure a stream that says nothing for so long is given up for a list, which shows whether the server is there.
constexpr int64_t kProofTimeout_ns = 2 * kSecond_ns;
// A failure is told at the third one in a row, and when this long has passed since the first.
constexpr int kFailuresMaximum = 3;
constexpr int64_t kFailingTimeout_ns = 10 * kSecond_ns;
// The pause after a failure: doubled each time, at most so long, and up to a half shorter at random, so that many watchers do not
// come back at once.
constexpr int64_t kFirstDelay_ns = kSecond_ns;
constexpr int64_t kMaxDelay_ns = 5 * kSecond_ns;

class StreamState {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  enum class Name : uint8_t {
    kListing,     // all of it is asked for, or is to be
    kConnecting,  // the server was asked for events and has said nothing yet
    kLive,        // it has said something within the quiet period
    kQuiet,       // it has not
    kFailing,     // it could not be asked, and is to be asked again
    kGone,        // what is followed is not there; its creation would be an event
  };

  // `silence_ns`: after so long without a word, not even a bookmark, over all streams, it is listed anew.
  // `due_ns`: not before this.
  StreamState(int64_t silence_ns, int64_t due_ns, uint32_t seed)
      : silence_ns_(silence_ns), due_ns_(due_ns), random_(seed) {}

  Name name() const { return name_; }
  bool list_first() const { return list_; }
  // When something is to be done: to list or to begin a stream; while one goes on, to look at its silence.
  int64_t due_ns() const;

  // ---- What happened ----
  // It is not to be followed until list_again.
  void hold();
  void list_again(int64_t now_ns);
  void listed(int64_t now_ns);
  // A list said that it is not there.
  void gone(int64_t now_ns);
  void began(int64_t now_ns);
  // `progressed`: something new came, or a bookmark, which says that there is nothing. `changed`: what is followed did.
  void heard(int64_t now_ns, bool progressed, bool changed);

  // A stream goes on, and its due time has come.
  enum class Silence : uint8_t { kBearable, kQuiet, kTooLong };
  // kTooLong: it is to be ended, and is listed anew then. kQuiet: it has just become so.
  Silence look(int64_t now_ns);

  // How a stream ended.
  enum class End : uint8_t {
    kWhole,      // answered with 200, to its end
    kBroken,     // on the way to the server or back
    kRefused,    // by an answer that says "not now"
    kForgotten,  // for the server no longer knows the version: it is to be listed anew
    kOutgrown,   // by us, to list anew what its events said
  };
  // False: its failure is to be told now. `at_least_ns`: what the server asked to wait for.
  bool ended(End end, int64_t now_ns, int64_t at_least_ns = 0);

  // Failures in a row without anything new.
  int failures() const { return failures_; }

 private:
  bool go_on(int64_t now_ns);
  bool fail(int64_t now_ns, int64_t at_least_ns);
  int64_t pause(int nth);
  int64_t silence_end() const;

  const int64_t silence_ns_;
  Name name_ = Name::kListing;
  bool list_ = true;
  bool streams_ = false;  // one goes on
  int64_t due_ns_;        // where none does
  std::minstd_rand random_;

  int64_t listed_ns_ = -(kNever / 2);
  int64_t proved_ns_ = 0;         // when the server last showed that it is there
  bool doubtful_ = false;         // it has failed since
  bool progressed_ = false;       // since the list
  int failures_ = 0;              // in a row
  int64_t first_failure_ns_ = 0;  // of those; 0: there is none

  // Of the stream.
  int64_t began_ns_ = -(kNever / 2);
  int64_t word_ns_ = 0;  // when it said something last, or began
  bool new_ = false;     // it brought something new
};

}  // namespace muster::kubernetes
