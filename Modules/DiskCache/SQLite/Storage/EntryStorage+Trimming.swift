import AlcedoCore

extension EntryStorage {
    /// What the background does.
    func perform(_ needs: BackgroundWork.Needs) async {
        await writeUses(priority: .low)
        if needs.contains(.expired) { _ = await removeExpired(priority: .low) }
        if needs.contains(.limits) { _ = await keepLimits(priority: .low) }
        if needs.contains(.leftovers) { await removeLeftovers() }
        report()
    }

    /// Removes what has expired, and keeps the limits. Returns what went.
    func clean() async -> DataCacheTrimReport {
        await Self.uncancelled { [self] in
            await writeUses()
            let removals = await removeExpired() + keepLimits()
            report()
            return DataCacheTrimReport(removals: removals)
        }
    }

    /// Removes what has expired, then the least recently used. Returns what went.
    func trim(toSize size: Int, count: Int) async -> DataCacheTrimReport {
        await Self.uncancelled { [self] in
            await writeUses()
            var removals = await removeExpired()
            // What has to go anyway goes for that reason.
            var whole = limits
            whole.trimTarget = 1
            removals += await trim { [whole] in TrimGoal($0, exceeding: whole) }
            removals += await trim { _ in TrimGoal(size: size, count: count, reason: .requested) }
            while await (try? change { try $0.shrink() }) ?? false {}
            report()
            return DataCacheTrimReport(removals: removals)
        }
    }

    /// Tells of what was trimmed, outside any lock.
    func report() {
        let removals = unreported.withLock { unreported in
            defer { unreported = [] }
            return unreported
        }
        if !removals.isEmpty { onTrim?(DataCacheTrimReport(removals: removals)) }
    }

    func writeUses(priority: LoadPriority = .normal) async {
        guard !uses.isEmpty else { return }
        do {
            _ = try await change(priority: priority) { [self] in writeUses(in: $0) }
        } catch {
            // In a place that cannot be written to they would only become more.
            if (error as? SQLiteFailure)?.kind == .notWritable { _ = uses.takeAll() }
        }
    }

    /// Uses that cannot be written are forgotten: only the order suffers.
    func writeUses(in changes: EntryChanges) { try? changes.write(uses.takeAll()) }

    @discardableResult
    func note(_ slice: TrimSlice) -> TrimSlice {
        counts.change { $0.trimmedEntries += slice.removals.count }
        unreported.withLock { $0 += slice.removals }
        return slice
    }

    private func keepLimits(priority: LoadPriority = .normal) async -> [DataCacheTrimReport.Removal] {
        let limits = limits
        let totals = try? await change(priority: priority) { try $0.queries.totals() }
        guard let totals, let goal = TrimGoal(totals, exceeding: limits) else { return [] }
        let expired = await removeExpired(priority: priority)
        return await expired + trim(priority: priority) { _ in goal }
    }

    /// Trims in slices, so that others come between. The goal is set by the first.
    private func trim(
        priority: LoadPriority = .normal, goal makeGoal: @escaping @Sendable (EntryTotals) -> TrimGoal?
    ) async -> [DataCacheTrimReport.Removal] {
        let totals = try? await change(priority: priority) { try $0.queries.totals() }
        guard let totals, let goal = makeGoal(totals) else { return [] }
        var removals: [DataCacheTrimReport.Removal] = []
        while true {
            let slice = try? await change(priority: priority) { [self] changes in
                // Else what was read just now would be taken for the oldest.
                writeUses(in: changes)
                return note(try changes.trim(to: goal))
            }
            guard let slice else { return removals }
            removals += slice.removals
            if slice.isDone { return removals }
        }
    }

    private func removeExpired(priority: LoadPriority = .normal) async -> [DataCacheTrimReport.Removal] {
        var removals: [DataCacheTrimReport.Removal] = []
        var last: Int64? = .min
        while let after = last {
            let scan = try? await change(priority: priority) { [self] changes in
                let scan = try changes.removeExpired(after: after, limits: limits, at: now)
                let removed = scan.items.map {
                    DataCacheTrimReport.Removal(name: $0.name, size: $0.size, reason: .expired)
                }
                return (slice: note(TrimSlice(removals: removed)), next: scan.next)
            }
            guard let scan else { return removals }
            removals += scan.slice.removals
            last = scan.next
        }
        return removals
    }
}
