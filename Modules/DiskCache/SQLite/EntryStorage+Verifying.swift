import AlcedoCore

extension EntryStorage {
    /// Entries that one turn looks at, so that others come between.
    private static let pageCount = 16

    /// Reads every entry, removes those that are damaged, and what belongs to none.
    func verify() async -> DataCacheVerification {
        await Self.uncancelled { [self] in
            var verification = DataCacheVerification()
            await forget()
            await verifyStructure(&verification)
            var removedCount = 0
            var last: Int64 = .min
            while true {
                let page = await read(recording: &verification.refusal, priority: .low) { [self, last] in
                    try checkPage(after: last, in: $0)
                }
                guard let page else { break }
                verification.refusal = verification.refusal ?? page.error
                guard let end = page.last else { break }
                last = end
                verification.checkedCount += page.count
                verification.byteCount += page.byteCount
                for (id, name) in page.damaged where await removeDamaged(id, recording: &verification.refusal) {
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

    /// Removes what a crash may have left of large values.
    func removeLeftovers() async {
        // A folder a turn.
        for shard in (try? await change(priority: .low) { [values] _ in try values.shards() }) ?? [] {
            _ = try? await change(priority: .low) { try $0.removeLeftovers(in: shard) }
        }
    }

    private struct Page: Sendable {
        var count = 0
        var byteCount = 0
        var damaged: [(id: Int64, name: String)] = []
        /// Why one could not be read.
        var error: DataCacheError?
        /// Of the last entry; nil when there was none.
        var last: Int64?
    }

    private func checkPage(after id: Int64, in queries: EntryQueries) throws(SQLiteFailure) -> Page {
        var page = Page()
        for id in try queries.ids(after: id, count: Self.pageCount) {
            page.last = id
            // Removed meanwhile.
            guard let found = try queries.unverifiedEntry(id) else { continue }
            page.count += 1
            do throws(SQLiteFailure) {
                if try found.isIntact(values) {
                    page.byteCount += found.row.size
                } else {
                    page.damaged.append((id, found.row.name))
                }
            } catch {
                // Its file is not to be had now: neither whole nor damaged.
                if error.kind == .damaged { throw error }
                page.error = page.error ?? error.cacheError
            }
        }
        return page
    }

    private func removeDamaged(_ id: Int64, recording error: inout DataCacheError?) async -> Bool {
        await change(recording: &error) { try $0.removeDamaged(id) } ?? false
    }

    /// A file whose structure is damaged is made anew. What it still says to have had is lost.
    private func verifyStructure(_ verification: inout DataCacheVerification) async {
        let isSound = await read(recording: &verification.refusal, priority: .low) { try $0.isSound() }
        guard isSound == false else { return }
        // A damaged tree may lead to a row twice.
        let names = Set(await read(priority: .low) { try $0.items { _ in false } }?.map(\.name) ?? []).sorted()
        _ = try? await change { changes in
            guard try !changes.queries.isSound() else { return }
            throw SQLiteFailure(.damaged, "the structure of the database is damaged")
        }
        verification.checkedCount += names.count
        verification.damagedNames += names
        // One is counted for the file.
        counts.change { $0.damagedEntries += max(0, names.count - 1) }
    }
}
