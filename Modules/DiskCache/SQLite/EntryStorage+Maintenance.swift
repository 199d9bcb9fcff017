import AlcedoCore
import AlcedoRuntime

extension EntryStorage {
    /// The number of entries that one step of a verification checks. Other work runs between the steps.
    private static let checkedCount = 16

    /// Performs a batch of background work, and reports the removed entries.
    func maintain(_ work: Work) async {
        await writeUses(priority: .low)
        guard work != .uses else { return }
        var trimmed = DataCacheTrimReport()
        try? await applyLimits(removingExpired: work == .all, into: &trimmed, priority: .low)
        if work == .all { await removeLeftovers() }
        report()
    }

    /// Removes expired entries, and applies the limits of the cache. Then removes the least recently used entries until
    /// `goal` is reached, if it is not nil. Returns a report of the removed entries.
    func trim(to goal: TrimGoal? = nil) async -> DataCacheTrimReport {
        await Self.uncancelled { [self] in
            await writeUses()
            var trimmed = DataCacheTrimReport()
            do {
                if let goal {
                    try await removeExpired(into: &trimmed)
                    // The cache's limits are applied first, so that the report names a limit as the reason of these
                    // removals.
                    var strictLimits = limits
                    strictLimits.trimTarget = 1
                    try await trim(into: &trimmed) { TrimGoal($0, exceeding: strictLimits) }
                    try await trim(into: &trimmed) { _ in goal }
                    await shrink(to: 0)
                } else {
                    try await applyLimits(removingExpired: true, into: &trimmed)
                }
            } catch let failure as SQLiteFailure {
                trimmed.error = failure.cacheError
            } catch {
                // Only `CancellationError` is left, which work that cannot be canceled does not throw.
            }
            report()
            return trimmed
        }
    }

    /// Reports the trimmed entries that have not been reported to the observers, outside any lock.
    func report() {
        let removals = unreported.withLock { unreported in
            defer { unreported = [] }
            return unreported
        }
        trims.tell(DataCacheTrimReport(removals: removals))
    }

    func writeUses(priority: LoadPriority = .normal) async {
        guard !uses.isEmpty else { return }
        do {
            _ = try await change(priority: priority) { [self] in writeUses(in: $0) }
        } catch let failure as SQLiteFailure where failure.kind == .notWritable {
            // Otherwise, up to one use of each entry would stay in memory.
            _ = uses.takeAll()
        } catch {
            // The next batch writes them.
        }
    }

    /// Writes the unwritten uses. Drops uses that cannot be written.
    private func writeUses(in table: EntryTable) { try? table.write(uses.takeAll()) }

    /// Performs one step of a trim on the writer's thread, and records its removals.
    func trimSlice(to goal: TrimGoal, in table: EntryTable) throws(SQLiteFailure) -> TrimSlice {
        // The uses are written first. Otherwise, an entry that was just read could count as least recently used.
        writeUses(in: table)
        return record(try table.trim(to: goal))
    }

    @discardableResult
    func record(_ slice: TrimSlice) -> TrimSlice {
        counts.change { $0.recordEvictions(slice.removals) }
        unreported.withLock { $0 += slice.removals }
        return slice
    }

    // The following methods find out on a reader's thread whether there is something to change. So nothing fails in a
    // directory that cannot be written to if there is nothing to change.

    /// Applies the limits of size and count. Removes expired entries on request, and otherwise only if a limit is
    /// exceeded.
    private func applyLimits(
        removingExpired: Bool, into report: inout DataCacheTrimReport, priority: LoadPriority = .normal
    ) async throws {
        guard let totals = try await read(priority: priority, { try $0.totals() }) else { return }
        let goal = TrimGoal(totals, exceeding: limits)
        if removingExpired || goal != nil { try await removeExpired(into: &report, priority: priority) }
        if let goal { try await trim(into: &report, priority: priority) { _ in goal } }
        // Later stores may leave the free pages unused, because large values are stored in files.
        if goal != nil || totals.hasSpareFile(beyond: limits.sizeLimit) {
            await shrink(to: limits.sizeLimit, priority: priority)
        }
    }

    /// Returns free pages of the database to the file system while ``EntryTotals/hasSpareFile(beyond:)`` is true for
    /// `size`.
    private func shrink(to size: Int, priority: LoadPriority = .normal) async {
        var isShorter = true
        while isShorter {
            let change = try? await change(priority: priority) { table in
                try table.totals().hasSpareFile(beyond: size) && table.shrink()
            }
            isShorter = change ?? false
        }
    }

    /// Trims in slices, so that other work can run in between. The goal does not change between the slices.
    private func trim(
        into report: inout DataCacheTrimReport, priority: LoadPriority = .normal,
        goal makeGoal: (EntryTotals) -> TrimGoal?
    ) async throws {
        let totals = try await read(priority: priority) { try $0.totals() }
        guard let totals, let goal = makeGoal(totals), goal.reason(for: totals) != nil else { return }
        while let slice = try await change(priority: priority, { [self] in try trimSlice(to: goal, in: $0) }) {
            report.removals += slice.removals
            if slice.isDone { return }
        }
    }

    private func removeExpired(
        into report: inout DataCacheTrimReport, priority: LoadPriority = .normal
    ) async throws {
        let (limits, now) = (self.limits, self.now)
        var last: Int64? = .min
        while let id = last {
            let found = try await read(priority: priority) { try $0.findExpired(after: id, limits: limits, at: now) }
            if found?.areFound == true {
                let slice = try await change(priority: priority) { [self] table in
                    let removed = try table.removeExpired(after: id, limits: limits, at: now)
                    return record(TrimSlice(removals: removed.map { $0.removed(for: .expired) }))
                }
                report.removals += slice?.removals ?? []
            }
            last = found?.next
        }
    }

    /// Removes the files of large values that belong to no entry. A crash may have left such files.
    func removeLeftovers() async {
        // Each directory is a step of its own, so that other work runs in between.
        for shard in ValueDirectory.shards {
            _ = try? await change(priority: .low) { try $0.removeLeftovers(in: shard) }
        }
    }

    // MARK: Verifying

    /// Verifies the database and its entries. Removes damaged entries, and the content rows and files that belong to no
    /// entry. Recomputes the totals. Returns a report of the entries. If the database cannot be read, the remaining
    /// entries are not checked.
    func verify() async -> DataCacheVerification {
        await Self.uncancelled { [self] in
            var verification = DataCacheVerification()
            await forget()
            do {
                try await verifyStructure(&verification)
                try await verifyEntries(&verification)
            } catch let failure as SQLiteFailure {
                verification.error = verification.error ?? failure.cacheError
            } catch {
                // Only `CancellationError` is left, which work that cannot be canceled does not throw.
            }
            _ = try? await change { try $0.repair() }
            await removeLeftovers()
            return verification
        }
    }

    private func verifyEntries(_ verification: inout DataCacheVerification) async throws {
        var first = Int64.min
        while true {
            let page = try await read(priority: .low) { [first] in
                try $0.check(from: first, count: Self.checkedCount)
            }
            guard let page, let last = page.last?.id else { return }
            for entry in page {
                verification.checkedCount += 1
                do {
                    if try entry.isIntact.get() {
                        verification.byteCount += entry.size
                    } else if try await change({ try $0.removeDamaged(entry.id) }) == true {
                        verification.damagedNames.append(entry.name)
                        counts.change { $0.damagedEntries += 1 }
                    }
                } catch let failure as SQLiteFailure {
                    // The entry's file cannot be read now, so its bytes may be valid, or the entry cannot be removed.
                    verification.error = verification.error ?? failure.cacheError
                }
            }
            if last == .max { return }
            first = last + 1
        }
    }

    /// Removes the database if its structure is damaged. All entries that the database still lists count as damaged.
    private func verifyStructure(_ verification: inout DataCacheVerification) async throws {
        guard try await read(priority: .low, { try $0.isSound() }) == false else { return }
        // A damaged B-tree may list a row twice.
        let items = try? await read(priority: .low) { try $0.items { _ in false } }
        let names = Set((items ?? []).map(\.name)).sorted()
        _ = try? await change { table in
            guard try !table.isSound() else { return }
            throw SQLiteFailure(.damaged, "the database structure is damaged")
        }
        verification.checkedCount += names.count
        verification.damagedNames += names
        // Replacing the file has already counted one damaged entry.
        counts.change { $0.damagedEntries += max(0, names.count - 1) }
    }
}
