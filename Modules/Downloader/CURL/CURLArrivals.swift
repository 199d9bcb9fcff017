/// Whose heads have come in the current turn of the loop. Never leaves the loop's thread.
final class CURLArrivals {
    private var exchanges: [CURLExchange.ID] = []

    func add(_ exchange: CURLExchange.ID) { exchanges.append(exchange) }

    func takeAll() -> [CURLExchange.ID] {
        defer { exchanges.removeAll(keepingCapacity: true) }
        return exchanges
    }
}
