import AlcedoCore
import FoundationEssentials

/// Entries in the order of their last use: a doubly linked list whose links are keys. All operations are O(1).
struct RecencyList {
    private struct Node {
        var responses: [StoredResponse]
        var cost: Int
        var newer: URL?
        var older: URL?
    }

    /// The sum of the costs of all entries.
    private(set) var totalCost = 0
    private var nodes: [URL: Node] = [:]
    private var newest: URL?
    private var oldest: URL?

    /// Returns the entry, which becomes the newest one; empty when there is none.
    mutating func use(_ url: URL) -> [StoredResponse] {
        guard let node = remove(url) else { return [] }
        insert(node.responses, for: url, cost: node.cost)
        return node.responses
    }

    /// Adds an entry as the newest one. There must be none for the URL.
    mutating func insert(_ responses: [StoredResponse], for url: URL, cost: Int) {
        nodes[url] = Node(responses: responses, cost: cost, newer: nil, older: newest)
        if let newest { nodes[newest]?.newer = url } else { oldest = url }
        newest = url
        totalCost += cost
    }

    /// Removes the entry that was not used for longest. Returns whether there was one.
    mutating func removeOldest() -> Bool { oldest.flatMap { remove($0) } != nil }

    @discardableResult
    mutating func remove(_ url: URL) -> (responses: [StoredResponse], cost: Int)? {
        guard let node = nodes.removeValue(forKey: url) else { return nil }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        totalCost -= node.cost
        return (node.responses, node.cost)
    }
}
