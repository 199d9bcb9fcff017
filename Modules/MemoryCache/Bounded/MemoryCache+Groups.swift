extension MemoryCache where Key: GroupedKey {
    /// Removes all entries of a group. Returns how many that were. O(their number), and of what is weakly held.
    @discardableResult
    public func removeAll(of group: Key.Group) -> Int {
        removeGroup(group.hashValue) { $0.group == group }
    }
}
