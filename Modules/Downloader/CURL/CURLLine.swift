/// Exchanges in the order they came. Lets go of those that are taken out, which a slice of an array does not.
struct CURLLine {
    private var places: [CURLExchange?] = []
    private var head = 0

    var isEmpty: Bool { head == places.count }

    mutating func append(_ exchange: CURLExchange) { places.append(exchange) }

    /// O(1), amortised.
    mutating func popFirst() -> CURLExchange? {
        guard head < places.count else { return nil }
        let first = places[head]
        places[head] = nil
        head += 1
        // The places of those who have gone are at most half of all.
        if head * 2 >= places.count {
            places.removeFirst(head)
            head = 0
        }
        return first
    }

    /// O(*n*).
    mutating func remove(_ exchange: CURLExchange) {
        places = places[head...].filter { $0 !== exchange }
        head = 0
    }

    mutating func removeAll() -> [CURLExchange] {
        defer { (places, head) = ([], 0) }
        return places[head...].compactMap(\.self)
    }
}
