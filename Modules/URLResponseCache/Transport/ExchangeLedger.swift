import AlcedoCore
import FoundationEssentials

/// Knows which exchanges are under way, so that an answer that was on its way while its URL changed is not stored.
final class ExchangeLedger: Sendable {
    /// One exchange; ends when it is let go.
    final class Exchange: Sendable {
        private let ledger: ExchangeLedger
        private let url: URL
        private let generation: Int

        fileprivate init(ledger: ExchangeLedger, url: URL, generation: Int) {
            self.ledger = ledger
            self.url = url
            self.generation = generation
        }

        deinit { ledger.end(url) }

        /// Whether nothing has changed the resource since the exchange began.
        var isCurrent: Bool { ledger.generation(of: url) == generation }
    }

    private struct Entry {
        var count = 0
        var generation = 0
    }

    private let entries = Locked<[URL: Entry]>([:])

    /// Notes that a request is sent.
    func begin(_ url: URL) -> Exchange {
        let generation = entries.withLock { entries in
            entries[url, default: Entry()].count += 1
            return entries[url]?.generation ?? 0
        }
        return Exchange(ledger: self, url: url, generation: generation)
    }

    /// Notes that the resource may have changed.
    func invalidate(_ url: URL) { entries.withLock { $0[url]?.generation += 1 } }

    private func generation(of url: URL) -> Int { entries.withLock { $0[url]?.generation ?? 0 } }

    private func end(_ url: URL) {
        entries.withLock { entries in
            entries[url]?.count -= 1
            if entries[url]?.count == 0 { entries[url] = nil }
        }
    }
}
