import AlcedoCore
import FoundationEssentials

/// Changes what is stored, one change at a time for each URL.
struct ResponseWriter: Sendable {
    let store: any ResponseStoring
    let ledger = ExchangeLedger()
    private let gate = WriteGate()

    init(store: any ResponseStoring) { self.store = store }

    /// Adds an answer, unless the resource has changed since the exchange began. Returns whether it was added.
    @discardableResult
    func add(
        _ response: StoredResponse, for request: HTTPRequest, of exchange: ExchangeLedger.Exchange, now: Date
    ) async -> Bool {
        var isAdded = false
        await change(request.storageURL) { variants in
            isAdded = exchange.isCurrent && variants.add(response, for: request, now: now)
        }
        return isAdded
    }

    /// Removes the answers that a request selects.
    func remove(for request: HTTPRequest) async {
        await change(request.storageURL) { $0.remove(for: request) }
    }

    /// Removes all answers for the URL, those on their way included. RFC 9111 section 4.4.
    func invalidate(_ url: URL) async {
        // First, so that an answer that has not entered the gate yet finds out.
        ledger.invalidate(url)
        await gate.alone(with: url) { await store.replace([], for: url) }
    }

    private func change(_ url: URL, _ body: (inout Variants) -> Void) async {
        await gate.alone(with: url) {
            let before = await store.responses(for: url)
            var variants = Variants(before)
            body(&variants)
            if variants.responses != before { await store.replace(variants.responses, for: url) }
        }
    }
}
