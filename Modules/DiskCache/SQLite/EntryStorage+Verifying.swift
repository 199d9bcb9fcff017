import AlcedoCore

extension EntryStorage {
    /// The maximum number of entries that one step verifies. Other work runs between the steps.
    private static let pageCount = 16

    /// Verifies the database and its entries. Removes damaged entries, and the content rows and files that belong to no
    /// entry. Recomputes the totals. Returns a report of the entries. If the database cannot be read, the remaining
    /// entries are not checked.
    func verify() async -> DataCacheVerification {
        await Self.uncancelled { [self] in
            var verification = DataCacheVerification()
            await forget()
            await verifyStructure(&verification)
            var removedCount = 0
            var last: Int64 = .min
            while true {
                let page = await read(recording: &verification.error, priority: .low) { [self, last] in
                    try checkPage(after: last, in: $0)
                }
                guard let page else { break }
                verification.error = verification.error ?? page.error
                guard let end = page.last else { break }
                last = end
                verification.checkedCount += page.count
                verification.byteCount += page.byteCount
                for (id, name) in page.damaged where await removeDamaged(id, recording: &verification.error) {
                    verification.damagedNames.append(name)
                    removedCount += 1
                }
            }
            counts.change { [removedCount] in $0.damagedEntries += removedCount }
            _ = try? await change { changes in
                try changes.removeStrayContent()
                try changes.recount()
            }
            await removeLeftovers()
            return verification
        }
    }

    /// Removes the files of large values that belong to no entry. A crash may have left such files.
    func removeLeftovers() async {
        // Each directory is a step of its own, so that other work runs in between.
        for shard in (try? await change(priority: .low) { [values] _ in try values.shards() }) ?? [] {
            _ = try? await change(priority: .low) { try $0.removeLeftovers(in: shard) }
        }
    }

    private struct Page: Sendable {
        var count = 0
        var byteCount = 0
        var damaged: [(id: Int64, name: String)] = []
        /// The first reason why an entry could not be read, or nil.
        var error: DataCacheError?
        /// The last row identifier of the page, or nil if the page is empty.
        var last: Int64?
    }

    private func checkPage(after id: Int64, in queries: EntryQueries) throws(SQLiteFailure) -> Page {
        var page = Page()
        for id in try queries.ids(after: id, count: Self.pageCount) {
            page.last = id
            // If the row is missing, the entry was removed in the meantime.
            guard let found = try queries.unverifiedEntry(id) else { continue }
            page.count += 1
            do throws(SQLiteFailure) {
                if try found.isIntact(values) {
                    page.byteCount += found.row.size
                } else {
                    page.damaged.append((id, found.row.name))
                }
            } catch {
                // The entry's file cannot be read now. Its bytes may be valid.
                if error.kind == .damaged { throw error }
                page.error = page.error ?? error.cacheError
            }
        }
        return page
    }

    private func removeDamaged(_ id: Int64, recording error: inout DataCacheError?) async -> Bool {
        await change(recording: &error) { try $0.removeDamaged(id) } ?? false
    }

    /// Removes the database if its structure is damaged. All entries that the database still lists count as damaged.
    private func verifyStructure(_ verification: inout DataCacheVerification) async {
        let isSound = await read(recording: &verification.error, priority: .low) { try $0.isSound() }
        guard isSound == false else { return }
        // A damaged B-tree may list a row twice.
        let names = Set(await read(priority: .low) { try $0.items { _ in false } }?.map(\.name) ?? []).sorted()
        _ = try? await change { changes in
            guard try !changes.queries.isSound() else { return }
            throw SQLiteFailure(.damaged, "the database structure is damaged")
        }
        verification.checkedCount += names.count
        verification.damagedNames += names
        // Replacing the file has already counted one damaged entry.
        counts.change { $0.damagedEntries += max(0, names.count - 1) }
    }
}
