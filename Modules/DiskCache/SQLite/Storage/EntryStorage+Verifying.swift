import AlcedoCore

extension EntryStorage {
    /// Entries that one turn looks at, so that others come between.
    private static let pageCount = 16

    /// Reads every entry, removes those that are damaged, and what belongs to none.
    func verify() async -> DataCacheVerification {
        await Self.uncancelled { [self] in
            var verification = DataCacheVerification()
            await verifyStructure(&verification)
            var last: Int64 = .min
            while let page = await read(priority: .low, { [self, last] in try checkPage(after: last, in: $0) }) {
                guard let end = page.last else { break }
                last = end
                verification.checkedCount += page.count
                verification.byteCount += page.byteCount
                for name in page.damagedNames where await removeIfDamaged(name) {
                    verification.damagedNames.append(name)
                }
            }
            let damagedCount = verification.damagedNames.count
            counts.withLock { $0.damagedEntries += damagedCount }
            _ = try? await change { try $0.recount() }
            await removeLeftovers()
            return verification
        }
    }

    /// Removes what a crash may have left of large values.
    func removeLeftovers() async {
        // A folder a turn.
        for folder in (try? await change(priority: .low) { [values] _ in values.folders() }) ?? [] {
            _ = try? await change(priority: .low) { try $0.removeLeftovers(in: folder) }
        }
    }

    private struct Page: Sendable {
        var count = 0
        var byteCount = 0
        var damagedNames: [String] = []
        /// Of the last entry; nil when there was none.
        var last: Int64?
    }

    private func checkPage(after id: Int64, in queries: EntryQueries) throws(SQLiteFailure) -> Page {
        var page = Page()
        for (id, name) in try queries.names(after: id, count: Self.pageCount) {
            page.last = id
            // Removed meanwhile.
            guard let row = try queries.row(named: name) else { continue }
            page.count += 1
            if try queries.isWhole(row, values: values) {
                page.byteCount += row.size
            } else {
                page.damagedNames.append(name)
            }
        }
        return page
    }

    private func removeIfDamaged(_ name: String) async -> Bool {
        let removed = try? await change { [values] changes in
            try changes.remove(name) { (row) throws(SQLiteFailure) in
                try changes.queries.isWhole(row, values: values)
            }
        }
        return removed ?? false
    }

    /// A file whose structure is damaged is made anew. What it still says to have had is lost.
    private func verifyStructure(_ verification: inout DataCacheVerification) async {
        guard await read(priority: .low, { try $0.isSound() }) == false else { return }
        let names = await read(priority: .low) { try $0.items { _ in false } }?.map(\.name) ?? []
        _ = try? await change { changes in
            guard try !changes.queries.isSound() else { return }
            throw SQLiteFailure(.damaged, "the structure of the database is damaged")
        }
        verification.checkedCount += names.count
        verification.damagedNames += names
    }
}
