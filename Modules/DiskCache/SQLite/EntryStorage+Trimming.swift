import AlcedoCore
import AlcedoRuntime

extension EntryStorage {
    /// Writes the unwritten uses, performs the other background work in `needs`, and reports the removed entries.
    func perform(_ needs: MaintenanceQueue.Needs) async {
        await writeUses(priority: .low)
        var trimmed = DataCacheTrimReport()
        if needs.contains(.expired) { await removeExpired(into: &trimmed, priority: .low) }
        if needs.contains(.limits) { await keepLimits(into: &trimmed, priority: .low) }
        if needs.contains(.leftovers) { await removeLeftovers() }
        report()
    }

    /// Removes expired entries and applies the limits. Returns a report of the removed entries.
    func trimToLimits() async -> DataCacheTrimReport {
        await Self.uncancelled { [self] in
            await writeUses()
            var trimmed = DataCacheTrimReport()
            await removeExpired(into: &trimmed)
            await keepLimits(into: &trimmed)
            report()
            return await resolved(trimmed) { [limits] in TrimGoal($0, exceeding: limits) }
        }
    }

    /// Removes expired entries. Then removes the least recently used entries until the cache's limits, `size` and
    /// `count` hold. Returns a report of the removed entries.
    func trim(toSize size: Int, count: Int) async -> DataCacheTrimReport {
        await Self.uncancelled { [self] in
            await writeUses()
            var trimmed = DataCacheTrimReport()
            await removeExpired(into: &trimmed)
            // The cache's limits are applied first, so that the report names a limit as the reason of these removals.
            var strictLimits = limits
            strictLimits.trimTarget = 1
            await trim(into: &trimmed) { [strictLimits] in TrimGoal($0, exceeding: strictLimits) }
            let goal = TrimGoal(size: size, count: count, reason: .trimmed)
            await trim(into: &trimmed) { _ in goal }
            while await (try? change { try $0.shrink() }) ?? false {}
            report()
            return await resolved(trimmed) { _ in goal }
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
        } catch {
            // If the directory cannot be written to, the uses are dropped. Otherwise, up to one use of each entry would
            // stay in memory.
            if (error as? SQLiteFailure)?.kind == .notWritable { _ = uses.takeAll() }
        }
    }

    /// Writes the unwritten uses. Drops uses that cannot be written.
    func writeUses(in changes: EntryChanges) { try? changes.write(uses.takeAll()) }

    @discardableResult
    func record(_ slice: TrimSlice) -> TrimSlice {
        counts.change { $0.recordEvictions(slice.removals) }
        unreported.withLock { $0 += slice.removals }
        return slice
    }

    /// Returns the report of a trim. If nothing is left to remove, drops the error of the trim. In a directory that
    /// cannot be written to, a trim may fail although there is nothing to remove.
    private func resolved(
        _ trimmed: DataCacheTrimReport, goal makeGoal: @escaping @Sendable (EntryTotals) -> TrimGoal?
    ) async -> DataCacheTrimReport {
        guard trimmed.error != nil else { return trimmed }
        let isDone = await read { [limits, now] queries in
            let totals = try queries.totals()
            var hasExpired = false
            _ = try queries.items { times in
                if times.areExpired(limits, at: now) { hasExpired = true }
                return true
            }
            return !hasExpired && makeGoal(totals)?.reason(for: totals) == nil
        }
        return isDone == true ? DataCacheTrimReport(removals: trimmed.removals) : trimmed
    }

    private func keepLimits(into report: inout DataCacheTrimReport, priority: LoadPriority = .normal) async {
        let limits = limits
        let totals = await change(recording: &report.error, priority: priority) { try $0.queries.totals() }
        if let totals, let goal = TrimGoal(totals, exceeding: limits) {
            await removeExpired(into: &report, priority: priority)
            await trim(into: &report, priority: priority) { _ in goal }
        }
        await shortenFile(priority: priority)
    }

    /// Returns free pages of the database to the file system if ``EntryTotals/hasSpareFile(beyond:)`` is true for the
    /// size limit. Later stores may leave the free pages unused, because large values are stored in files.
    private func shortenFile(priority: LoadPriority) async {
        let limit = limits.maximumSize
        var isShorter = true
        while isShorter {
            let change = try? await change(priority: priority) { changes in
                let totals = try changes.queries.totals()
                guard totals.hasSpareFile(beyond: limit) else { return false }
                _ = try changes.shrink()
                return try changes.queries.totals().freeSize < totals.freeSize
            }
            isShorter = change ?? false
        }
    }

    /// Trims in slices, so that other work can run in between. The goal does not change between the slices.
    private func trim(
        into report: inout DataCacheTrimReport, priority: LoadPriority = .normal,
        goal makeGoal: @escaping @Sendable (EntryTotals) -> TrimGoal?
    ) async {
        let totals = await change(recording: &report.error, priority: priority) { try $0.queries.totals() }
        guard let totals, let goal = makeGoal(totals) else { return }
        while true {
            let slice = await change(recording: &report.error, priority: priority) { [self] changes in
                // The uses are written first. Otherwise, an entry that was just read could count as least recently
                // used.
                writeUses(in: changes)
                return record(try changes.trim(to: goal))
            }
            guard let slice else { return }
            report.removals += slice.removals
            if slice.isDone { return }
        }
    }

    private func removeExpired(into report: inout DataCacheTrimReport, priority: LoadPriority = .normal) async {
        var last: Int64? = .min
        while let after = last {
            let scan = await change(recording: &report.error, priority: priority) { [self] changes in
                let scan = try changes.removeExpired(after: after, limits: limits, at: now)
                let removed = scan.items.map { $0.item(removedFor: .expired) }
                return (slice: record(TrimSlice(removals: removed)), next: scan.next)
            }
            guard let scan else { return }
            report.removals += scan.slice.removals
            last = scan.next
        }
    }
}
