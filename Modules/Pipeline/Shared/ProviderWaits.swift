import AlcedoCore
import AlcedoRuntime
import Synchronization

/// The waits of provider closures for bytes, so that a closure that would wait for itself gets an error.
///
/// A closure is known by the identity of its source, because a downloader runs it once for all requests with that identity,
/// and by the load that runs it, because a pipeline runs one for all requests that share it, whatever their sources.
final class ProviderWaits: Sendable {
    /// What a wait is for: the closure of an identity, or a load of the pipeline.
    fileprivate enum Node: Hashable, Sendable {
        case provider(ResourceKey)
        case load(DownloadKey)
    }

    /// One run of a closure. Tasks that it started may outlive it.
    fileprivate final class Run: Sendable {
        let waits: ProviderWaits
        let identity: String
        let nodes: [Node]
        let hasEnded = Atomic<Bool>(false)

        init(_ waits: ProviderWaits, _ identity: String, _ nodes: [Node]) {
            (self.waits, self.identity, self.nodes) = (waits, identity, nodes)
        }
    }

    /// A wait of a closure that runs. Ends with ``end()``.
    struct Wait: Sendable {
        fileprivate let run: Run
        fileprivate let awaited: [Node]

        func end() { run.waits.forget(run.nodes, awaiting: awaited) }
    }

    /// The closure that the current task works for.
    @TaskLocal private static var current: Run?

    /// The number of waits for each awaited closure, by the waiting closure.
    private let counts = Locked<[Node: [Node: Int]]>([:])

    /// Returns the source of a request. While its closure runs, the loads that the closure begins are known as its own.
    func tracked(_ request: ImageRequest) -> ImageSource {
        guard case .provider(let identity, let provide) = request.source else { return request.source }
        let nodes = Self.nodes(request)
        return .provider(identity: identity) { [self] in
            let run = Run(self, identity, nodes)
            defer { run.hasEnded.store(true, ordering: .relaxed) }
            return try await Self.$current.withValue(run) { try await provide() }
        }
    }

    /// Begins a wait for the bytes of a request.
    ///
    /// - Returns: nil when the current task works for no closure, or the request cannot wait for one.
    /// - Throws: ``PipelineError`` `download` when the closure of the current task would wait for itself.
    func begin(_ request: ImageRequest) throws(PipelineError) -> Wait? {
        guard request.cachePolicy.allowsNetwork, let run = Self.current, run.waits === self,
            !run.hasEnded.load(ordering: .relaxed)
        else { return nil }
        let awaited = Self.nodes(request)
        let isCycle = counts.withLock { counts in
            if Self.reaches(run.nodes, from: awaited, counts) { return true }
            for waiter in run.nodes {
                for node in awaited { counts[waiter, default: [:]][node, default: 0] += 1 }
            }
            return false
        }
        if isCycle {
            let reason = "inside its own closure: the load would wait for itself"
            throw PipelineError(.download, "cannot load the provider \(run.identity) \(reason)")
        }
        return Wait(run: run, awaited: awaited)
    }

    private func forget(_ waiters: [Node], awaiting awaited: [Node]) {
        counts.withLock { counts in
            for waiter in waiters {
                for node in awaited {
                    let left = (counts[waiter]?[node] ?? 1) - 1
                    counts[waiter]?[node] = left == 0 ? nil : left
                }
                if counts[waiter]?.isEmpty == true { counts[waiter] = nil }
            }
        }
    }

    /// Whether one of `starts` is one of `goals`, or waits for one, perhaps through others.
    private static func reaches(
        _ goals: [Node], from starts: [Node], _ counts: [Node: [Node: Int]]
    ) -> Bool {
        var seen = Set(starts)
        var rest = starts
        while let node = rest.popLast() {
            if goals.contains(node) { return true }
            for next in (counts[node] ?? [:]).keys where seen.insert(next).inserted { rest.append(next) }
        }
        return false
    }

    private static func nodes(_ request: ImageRequest) -> [Node] {
        var nodes = [Node.load(DownloadKey(request))]
        if case .provider = request.source { nodes.append(.provider(request.source.resource)) }
        return nodes
    }
}
