import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A limit on the requests to host names whose address is not known, until the server has connected to them. Requests
/// after redirects count as well.
///
/// A name that is resolved slowly, or whose address does not respond, occupies a transfer until a time limit. With this
/// limit, such names leave transfers to the known ones. Domains take turns: one with a lookup begins a further one only
/// if half of the limit stays free.
final class HostLookups: Sendable {
    /// The lookup of one request.
    private final class Lookup: Sendable {
        private enum State {
            case waiting, held, ended
        }

        private let state = Locked(State.waiting)
        private let release: @Sendable () -> Void

        init(_ release: @escaping @Sendable () -> Void) { self.release = release }

        /// Records that the limit admits the lookup.
        func begin() {
            let hasEnded = state.withLock { state in
                if state == .waiting { state = .held }
                return state == .ended
            }
            if hasEnded { release() }
        }

        /// Ends the lookup. Only the first call has an effect.
        func end() {
            let wasHeld = state.withLock { state in
                defer { state = .ended }
                return state == .held
            }
            if wasHeld { release() }
        }
    }

    private struct State: Sendable {
        var lastID = 0
        /// The closures that end the lookups of each host, by number.
        var ends: [String: [Int: @Sendable () -> Void]] = [:]
    }

    private let admission: Admission
    /// The budget, in which each lookup counts as one byte.
    private let budget: ByteBudget
    private let state = Locked(State())

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - admission: The table of known addresses.
    ///   - limit: The maximum number of lookups. Values below 1 count as 1.
    init(_ admission: Admission, limit: Int) {
        self.admission = admission
        let limit = max(1, limit)
        budget = ByteBudget(limit: limit, groupShare: ByteBudget.GroupShare(spareByteCount: limit / 2))
    }

    /// Sends a request for a URL, after a wait if the limit is reached, until the address of its host is known.
    ///
    /// - Throws: The error of `send`, or `CancellationError` if the task is canceled while it waits.
    func observing<Value: Sendable>(_ url: URL, _ send: () async throws -> Value) async throws -> Value {
        guard let host = try? SourceURL(url).host, !admission.isKnown(host) else { return try await send() }
        let domain = Admission.domain(of: host)
        let lookup = Lookup { [budget] in budget.release(1, group: domain) }
        let wait = Task.immediate { [budget] in
            try await budget.reserve(1, priority: AdjustablePriority(0), group: domain)
            lookup.begin()
        }
        let id = add(host) {
            wait.cancel()
            lookup.end()
        }
        defer { end(id, of: host) }
        // The server may have connected to the host meanwhile.
        if admission.isKnown(host) { end(of: host) }
        await withTaskCancellationHandler {
            _ = try? await wait.value
        } onCancel: {
            wait.cancel()
        }
        try Task.checkCancellation()
        return try await send()
    }

    /// Ends the lookups of a host, and their waits. Call this method when its address has been recorded in the table.
    func end(of host: String) {
        let ends = state.withLock { $0.ends.removeValue(forKey: host) } ?? [:]
        for end in ends.values { end() }
    }

    private func add(_ host: String, _ end: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.ends[host, default: [:]][state.lastID] = end
            return state.lastID
        }
    }

    private func end(_ id: Int, of host: String) {
        let end = state.withLock { state in
            defer { if state.ends[host]?.isEmpty == true { state.ends[host] = nil } }
            return state.ends[host]?.removeValue(forKey: id)
        }
        end?()
    }
}

/// A transport whose requests have the limit of ``HostLookups``.
struct HostLookupTransport: HTTPTransport {
    let transport: any HTTPTransport
    let lookups: HostLookups

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await lookups.observing(request.url) { try await transport.send(request) }
    }
}
