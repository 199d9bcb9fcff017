import AlcedoCore
import AlcedoRuntime

/// The work that removes entries: trims, and verifications.
extension EntryStorage {
    /// The number of entries that one step of a verification checks. Other work runs between the steps.
    private static let checkedCount = 16

    /// Performs a batch of background work.
    func maintain(_ work: Work) async {
        if work == .uses { return await writeUses() }
        _ = await trim(removingExpired: work == .all)
        if work == .all { await removeLeftovers() }
    }

    /// Applies the limits of the cache. Then removes the least recently used entries until `goal` is reached, if it is
    /// not nil. Returns a report of the removed entries, and reports them to the observers.
    ///
    /// - Parameters:
    ///   - goal: The goal. The default is nil, for the limits of the cache alone.
    ///   - removingExpired: Whether to search for expired entries even if no limit is exceeded. The default is true.
    func trim(to goal: TrimGoal? = nil, removingExpired: Bool = true) async -> DataCacheTrimReport {
        await Self.uncancelled { [self] in
            await writeUses()
            var trimmed = DataCacheTrimReport()
            do {
                try await trim(to: goal, removingExpired: removingExpired, &trimmed.removals)
            } catch {
                // Work that cannot be canceled throws only errors of the database.
                trimmed.error = (error as? SQLiteFailure)?.cacheError
            }
            report()
            return trimmed
        }
    }

    // The following methods find out on a reader's thread whether there is something to change. So nothing fails in a
    // directory that cannot be written to if there is nothing to change. Between their steps, other work can run. They
    // add the removed entries to `removals`.

    private func trim(
        to goal: TrimGoal?, removingExpired: Bool, _ removals: inout [DataCacheItem]
    ) async throws {
        guard let totals = try await read({ try $0.totals() }) else { return }
        var (limits, size) = (limits, limits.sizeLimit)
        // The limits are applied before a requested goal, so that the report names a limit as the reason.
        if goal != nil { (limits.trimTarget, size) = (1, 0) }
        let limitGoal = TrimGoal(totals, exceeding: limits)
        if removingExpired || limitGoal != nil { try await removeExpired(&removals) }
        for goal in [limitGoal, goal].compactMap({ $0 }) { try await remove(until: goal, &removals) }
        // Later stores may leave the free pages unused, because large values are stored in files.
        guard goal != nil || limitGoal != nil || totals.hasSpareFile(beyond: size) else { return }
        let isShorter = { [self, size] in
            try? await change { try $0.totals().hasSpareFile(beyond: size) && $0.shrink() }
        }
        while await isShorter() == true {}
    }

    /// Removes the least recently used entries until a goal is reached. The goal does not change between the steps.
    private func remove(until goal: TrimGoal, _ removals: inout [DataCacheItem]) async throws {
        let totals = try await read { try $0.totals() }
        guard let totals, goal.reason(for: totals) != nil else { return }
        while let slice = try await change({ [self] in try trimSlice(to: goal, in: $0) }) {
            removals += slice.removals
            if slice.isDone { return }
        }
    }

    private func removeExpired(_ removals: inout [DataCacheItem]) async throws {
        let (limits, now) = (self.limits, self.now)
        var last: Int64? = .min
        while let id = last {
            let found = try await read { try $0.findExpired(after: id, limits: limits, at: now) }
            if found?.ids.isEmpty == false {
                let removed = try await change { [self] table in
                    let rows = try table.removeExpired(after: id, limits: limits, at: now)
                    let removed = rows.map { $0.item(removedFor: .expired) }
                    record(removed)
                    return removed
                }
                removals += removed ?? []
            }
            last = found?.next
        }
    }

    /// Reports the trimmed entries that have not been reported to the observers, outside any lock.
    func report() {
        let removals = unreported.withLock { unreported in
            defer { unreported = [] }
            return unreported
        }
        if !removals.isEmpty { trims.tell(DataCacheTrimReport(removals: removals)) }
    }

    func writeUses() async {
        guard !uses.isEmpty else { return }
        do {
            _ = try await change { [self] in writeUses(in: $0) }
        } catch let failure as SQLiteFailure where failure.kind == .notWritable {
            // Otherwise, up to one use of each entry would stay in memory.
            _ = uses.takeAll()
        } catch {
            // The next batch writes them.
        }
    }

    /// Removes the files of large values that belong to no entry. A crash may have left such files.
    func removeLeftovers() async { _ = try? await change { try $0.removeLeftovers() } }

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
            } catch {
                // As in a trim, only errors of the database are possible.
                verification.error = verification.error ?? (error as? SQLiteFailure)?.cacheError
            }
            _ = try? await change { try $0.repair() }
            await removeLeftovers()
            return verification
        }
    }

    private func verifyEntries(_ verification: inout DataCacheVerification) async throws {
        var first = Int64.min
        while true {
            let page = try await read { [first] in
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
        guard try await read({ try $0.isSound() }) == false else { return }
        // A damaged B-tree may list a row twice.
        let rows = try? await read { try $0.rows() }
        let names = Set((rows ?? []).map(\.name)).sorted()
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
