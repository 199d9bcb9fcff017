import AlcedoCore

/// The one ledger of a cache's uses, for all of its threads.
final class UseLog: Sendable {
    private let ledger = Locked(UseLedger())

    func learn(recency: Int64) { ledger.withLock { $0.learn(recency: recency) } }

    func nextRecency(at now: Timestamp) -> Int64 { ledger.withLock { $0.nextRecency(at: now) } }

    /// Notes a use of an entry. Returns whether it is time to write.
    func use(_ id: Int64, times: EntryTimes) -> Bool {
        ledger.withLock { ledger in
            ledger.use(id, times: times)
            return ledger.isFull
        }
    }

    /// The times of a row, uses that are not in it included.
    func times(of id: Int64, recency: Int64, times: EntryTimes) -> EntryTimes {
        ledger.withLock { $0.times(of: id, recency: recency, times: times) }
    }

    var isEmpty: Bool { ledger.withLock { $0.isEmpty } }

    func takeAll() -> [Int64: UseLedger.Use] { ledger.withLock { $0.takeAll() } }
}
