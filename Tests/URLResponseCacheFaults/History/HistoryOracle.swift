import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

@testable import AlcedoURLResponseCache

/// Determines which responses a cache may serve without a request and which it must serve: RFC 9111 sections 3, 4.1 and
/// 4.2 in the simplest form, over a list of all received responses.
struct HistoryOracle: Sendable {
    /// A response that was received or validated.
    struct Entry: Sendable {
        var serial: Int
        var request: RequestPlan
        var plan: ResponsePlan
        var requestTime: Date
        var responseTime: Date
        /// Whether it is unknown if the cache should still have it.
        var isDoubtful = false
    }

    let role: CacheRole
    private(set) var entries: [Entry] = []

    init(role: CacheRole) { self.role = role }

    private var isShared: Bool { role.isShared }

    // MARK: Events

    mutating func arrived(_ entry: Entry) {
        for index in entries.indices where entries[index].request.page == entry.request.page {
            // A response that is not stored makes an older one to the same request obsolete.
            let isReplaced = isFor(entries[index], entry.request)
            let isHidden = isStorable(entry) && names(entries[index]) != names(entry)
            if isReplaced || isHidden { entries[index].isDoubtful = true }
        }
        entries.append(entry)
    }

    /// The server responded 304 to a request, about an earlier response.
    mutating func confirmed(
        _ serial: Int, by plan: ResponsePlan, for request: RequestPlan, requestTime: Date, responseTime: Date
    ) {
        guard var entry = entries.last(where: { $0.serial == serial }) else { return }
        // Dates that the new head does not replace are kept.
        let passed = Int(plan.date(receivedAt: responseTime).timeIntervalSince(date(entry)))
        entry.plan.expiresIn = entry.plan.expiresIn.map { $0 - passed }
        entry.plan.modifiedAgo = entry.plan.modifiedAgo.map { $0 + passed }
        if let control = plan.control { entry.plan.control = control }
        if let control = plan.targetedControl { entry.plan.targetedControl = control }
        if plan.expiresIn != nil {
            (entry.plan.expiresIn, entry.plan.hasUnreadableExpires) = (plan.expiresIn, plan.hasUnreadableExpires)
        }
        (entry.plan.age, entry.plan.clockSkew) = (plan.age, plan.clockSkew)
        (entry.request, entry.requestTime, entry.responseTime) = (request, requestTime, responseTime)
        // The same content for the same request, so its old head no longer counts.
        entries = entries.filter { $0.serial != serial || !isFor($0, request) }
        arrived(entry)
    }

    /// An unsafe request succeeded.
    mutating func changed(page: Int) { entries.removeAll { $0.request.page == page } }

    /// Records that it is unknown what the cache stores for a page, or for all pages if nil.
    mutating func doubt(page: Int?) {
        for index in entries.indices where page == nil || entries[index].request.page == page {
            entries[index].isDoubtful = true
        }
    }

    // MARK: Permitted reuse

    /// Returns whether a response may be served now without a request.
    func allows(_ serial: Int, _ request: RequestPlan, at now: Date, despiteTrouble: Bool) -> Bool {
        entries.enumerated().contains { index, entry in
            guard entry.serial == serial, isSelectable(index, request) else { return false }
            return isAllowed(entry, request, at: now) || (despiteTrouble && isAllowedInTrouble(entry, request, at: now))
        }
    }

    /// Returns whether a stored response is fresh and matches the request, so that no request may be sent.
    func demandsResponse(to request: RequestPlan, at now: Date) -> Bool {
        guard !request.names.contains("no-store"),
            let entry = newest(for: request), !entry.isDoubtful,
            // An older response with a later Date takes precedence.
            entries.allSatisfy({ !isFor($0, request) || date($0) <= date(entry) })
        else { return false }
        return isFresh(entry, request, at: now)
    }

    /// Returns the most recent response to such requests.
    func newest(for request: RequestPlan) -> Entry? { entries.last { isFor($0, request) && isStorable($0) } }

    /// Returns the ages that a response may have now.
    func ages(of serial: Int, _ request: RequestPlan, at now: Date) -> Set<Int> {
        Set(entries.filter { $0.serial == serial && isFor($0, request) }.map { Int(age($0, at: now)) })
    }

    // MARK: Section 3

    private func control(_ plan: ResponsePlan) -> ResponsePlan.Control? {
        // An empty targeted field is ignored.
        if role.targets.isEmpty { plan.control } else { plan.targetedControl ?? plan.control }
    }

    private func isStorable(_ entry: Entry) -> Bool {
        let control = control(entry.plan)
        let names = control?.names ?? []
        guard !entry.request.names.contains("no-store"), !names.contains("no-store"), entry.plan.vary != ["*"],
            entry.plan.status < 500
        else { return false }
        guard isShared else { return true }
        if names.contains("private") { return false }
        let isPublic = names.contains("public") || control?.sharedMaxAge != nil
        if entry.request.user != nil, !isPublic, !names.contains("must-revalidate") { return false }
        return !entry.request.hasCookie || isPublic
    }

    // MARK: Section 4.1

    /// Returns the fields that a response varies by.
    private func names(_ entry: Entry) -> Set<String> {
        let control = control(entry.plan)
        let names = control?.names ?? []
        let isPublic = names.contains("public") || control?.sharedMaxAge != nil
        let isForEveryone =
            isShared ? isPublic || names.contains("must-revalidate") : isPublic && !names.contains("private")
        guard !isForEveryone else { return Set(entry.plan.vary) }
        return Set(
            entry.plan.vary + (entry.request.user != nil ? ["authorization"] : [])
                + (entry.request.hasCookie ? ["cookie"] : []))
    }

    private func isFor(_ entry: Entry, _ request: RequestPlan) -> Bool {
        entry.request.page == request.page && entry.plan.vary != ["*"]
            && names(entry).allSatisfy { entry.request.value(of: $0) == request.value(of: $0) }
            && !isForOthers(entry, request)
    }

    /// Whether a response is for one user, and was sent for a request without the user's credentials.
    private func isForOthers(_ entry: Entry, _ request: RequestPlan) -> Bool {
        control(entry.plan)?.names.contains("private") == true
            && (request.user != nil && entry.request.user == nil || request.hasCookie && !entry.request.hasCookie)
    }

    /// Returns whether a response matches the request, and no later one does that is certainly stored.
    private func isSelectable(_ index: Int, _ request: RequestPlan) -> Bool {
        let entry = entries[index]
        guard isFor(entry, request), isStorable(entry) else { return false }
        return !entries[(index + 1)...].contains { later in
            !later.isDoubtful && isFor(later, request) && isStorable(later) && date(later) >= date(entry)
        }
    }

    // MARK: Section 4.2

    private func date(_ entry: Entry) -> Date { entry.plan.date(receivedAt: entry.responseTime) }

    private func lifetime(_ entry: Entry) -> TimeInterval {
        let control = control(entry.plan)
        if isShared, let seconds = control?.sharedMaxAge { return TimeInterval(seconds) }
        if let seconds = control?.maxAge { return TimeInterval(seconds) }
        let isTargeted = !role.targets.isEmpty && entry.plan.targetedControl != nil
        if let seconds = entry.plan.expiresIn, !isTargeted {
            return entry.plan.hasUnreadableExpires ? 0 : TimeInterval(seconds)
        }
        return TimeInterval(max(0, entry.plan.modifiedAgo ?? 0)) / 10
    }

    private func age(_ entry: Entry, at now: Date) -> TimeInterval {
        // The clock was set back.
        guard now >= entry.responseTime else { return TimeInterval(DeltaSeconds.limit) }
        let apparent = max(0, entry.responseTime.timeIntervalSince(date(entry)))
        let corrected = TimeInterval(entry.plan.age ?? 0) + entry.responseTime.timeIntervalSince(entry.requestTime)
        return max(apparent, corrected) + now.timeIntervalSince(entry.responseTime)
    }

    private func isFresh(_ entry: Entry, _ request: RequestPlan, at now: Date) -> Bool {
        let (age, lifetime) = (age(entry, at: now), lifetime(entry))
        guard lifetime > age, control(entry.plan)?.names.contains("no-cache") != true,
            !request.names.contains("no-cache")
        else { return false }
        if let oldest = request.maxAge, age > TimeInterval(oldest) { return false }
        if let least = request.minFresh, lifetime - age < TimeInterval(least) { return false }
        return true
    }

    private func isAllowed(_ entry: Entry, _ request: RequestPlan, at now: Date) -> Bool {
        if isFresh(entry, request, at: now) { return true }
        guard allowsStaleUse(entry), !request.names.contains("no-cache"), request.minFresh == nil else { return false }
        let staleness = age(entry, at: now) - lifetime(entry)
        guard staleness >= 0 else { return false }
        if let most = request.maxStale, staleness <= TimeInterval(most) {
            return request.maxAge.map { age(entry, at: now) <= TimeInterval($0) } ?? true
        }
        // RFC 5861 section 3.
        let window = control(entry.plan)?.staleWhileRevalidate ?? 0
        return request.maxAge == nil && window > 0 && staleness <= TimeInterval(window)
    }

    /// Section 4.2.4 and RFC 5861 section 4: the server is unreachable or responds with an error.
    private func isAllowedInTrouble(_ entry: Entry, _ request: RequestPlan, at now: Date) -> Bool {
        allowsStaleUse(entry)
    }

    /// Sections 5.2.2.2, 5.2.2.4, 5.2.2.8 and 5.2.2.10.
    private func allowsStaleUse(_ entry: Entry) -> Bool {
        guard let control = control(entry.plan) else { return true }
        return control.names.isDisjoint(with: ["no-cache", "must-revalidate"])
            && !(isShared && (control.names.contains("proxy-revalidate") || control.sharedMaxAge != nil))
    }
}

extension HistoryOracle {
    /// Returns the latest responses for a page, one per line.
    func account(of page: Int) -> String {
        entries.filter { $0.request.page == page }.suffix(16).map { entry in
            "\n  \(entry.serial) at \(Int(entry.responseTime.timeIntervalSince1970) % 100_000)\(entry.isDoubtful ? "?" : "")"
                + " to \(entry.request): \(entry.plan)"
        }.joined()
    }
}
