import AlcedoRuntime

/// The permits for transfers with each address, or each IPv6 network. They are used only on the loop's thread.
///
/// A transfer takes the permit of each address to which it is about to connect, and keeps only that of the connection
/// on which it sends its request. A transfer that is refused a permit gives up its slot and waits here. It then begins
/// again with a permit of that address.
final class AddressPermits<Waiter: Sendable> {
    private struct Entry {
        /// The transfers that have a permit.
        var holders: Set<Int> = []
        var waiters = WaiterQueue<Waiter>()
    }

    private let limit: Int
    private var entries: [InternetAddress: Entry] = [:]
    /// The addresses of which a transfer has a permit or waits for one.
    private var addresses: [Int: Set<InternetAddress>] = [:]
    /// The waiters that have got a permit and were not taken yet.
    private var admitted: [(id: Int, waiter: Waiter)] = []

    /// Creates the permits. A limit below 1 counts as 1.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Takes a permit for a transfer. Returns false if all permits of the address are taken by others.
    func acquire(_ address: InternetAddress, for id: Int) -> Bool {
        let address = address.network
        var entry = entries[address] ?? Entry()
        guard entry.holders.contains(id) || entry.holders.count < limit else { return false }
        entry.holders.insert(id)
        entries[address] = entry
        addresses[id, default: []].insert(address)
        return true
    }

    /// Makes a transfer wait for a permit of an address. Permits are granted in the order of arrival.
    func wait(for address: InternetAddress, _ id: Int, _ waiter: Waiter) {
        let address = address.network
        entries[address, default: Entry()].waiters.add(id, waiter, priority: 0)
        addresses[id, default: []].insert(address)
        // A permit may have been returned since it was refused.
        grant(address)
    }

    /// Returns the permits of a transfer, except that of one address, and ends its waits, also one that has got a
    /// permit but was not taken yet.
    func release(_ id: Int, except kept: InternetAddress? = nil) {
        guard let all = addresses[id] else { return }
        let kept = kept?.network
        admitted.removeAll { $0.id == id }
        addresses[id] = kept.flatMap { all.contains($0) ? [$0] : nil }
        for address in all where address != kept {
            entries[address]?.holders.remove(id)
            _ = entries[address]?.waiters.remove(id)
            grant(address)
        }
    }

    /// Removes and returns the waiters that have got a permit, in the order of the grants.
    func takeAdmitted() -> [Waiter] {
        guard !admitted.isEmpty else { return [] }
        defer { admitted = [] }
        return admitted.map(\.waiter)
    }

    private func grant(_ address: InternetAddress) {
        guard var entry = entries[address] else { return }
        while entry.holders.count < limit, let next = entry.waiters.popFirst() {
            entry.holders.insert(next.id)
            admitted.append((next.id, next.element))
        }
        entries[address] = entry.holders.isEmpty && entry.waiters.isEmpty ? nil : entry
    }
}
