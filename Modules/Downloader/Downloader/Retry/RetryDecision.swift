/// What to do after an attempt has failed.
enum RetryDecision: Sendable, Equatable {
    case giveUp
    case retry(after: Duration)
}
