import AlcedoCore
import AlcedoRuntime
import Synchronization

/// The waits of provider closures for bytes, used to return an error to a closure that would wait for itself.
///
/// A closure is identified in two ways. The identity of its source identifies it, because a downloader runs it once for
/// all requests with that identity. The load that runs it also identifies it, because a pipeline runs one closure for
/// all requests that share the load, whatever their sources.
final class ProviderWaits: Sendable {
    /// A closure, by its identity, or a load of the pipeline.
    fileprivate enum Node: Hashable, Sendable {
        case provider(ResourceKey)
        case load(DownloadKey)
    }

    /// A run of a closure. Tasks that the closure starts may outlive the run.
    fileprivate final class Run: Sendable {
        let waits: ProviderWaits
        let identity: String
        let nodes: [Node]
        let hasEnded = Atomic<Bool>(false)

        init(_ waits: ProviderWaits, _ identity: String, _ nodes: [Node]) {
            (self.waits, self.identity, self.nodes) = (waits, identity, nodes)
        }
    }

    /// A wait of a running closure, which ends with ``end()``.
    struct Wait: Sendable {
        fileprivate let run: Run
        fileprivate let awaited: [Node]

        func end() { run.waits.forget(run.nodes, awaiting: awaited) }
    }

    /// The run of the closure that the current task belongs to.
    @TaskLocal private static var current: Run?

    /// The number of waits by waiting node and awaited node.
    private let counts = Locked<[Node: [Node: Int]]>([:])

    /// Returns the source of a request. Loads that its closure begins while it runs are attributed to the closure.
    func tracked(_ request: ImageRequest) -> ImageSource {
        guard case .provider(let identity, let provide) = request.source else { return request.source }
        let nodes = Self.nodes(request)
        return .provider(identity: identity) { [self] in try await track(identity, nodes, provide) }
    }

    /// Returns the image of a request whose source is a closure. Loads that the closure begins while it runs are
    /// attributed to it. Throws ``ProviderCancellation`` or the error of the closure.
    func image(
        of request: ImageRequest, from identity: String, _ provide: @Sendable () async throws -> DecodedImage
    ) async throws -> DecodedImage {
        try await track(identity, Self.nodes(request), provide)
    }

    private func track<Value: Sendable>(
        _ identity: String, _ nodes: [Node], _ provide: @Sendable () async throws -> Value
    ) async throws -> Value {
        let run = Run(self, identity, nodes)
        defer { run.hasEnded.store(true, ordering: .relaxed) }
        do {
            return try await Self.$current.withValue(run) { try await provide() }
        } catch let error as CancellationError {
            // If the task is canceled, no caller waits for the closure.
            if Task.isCancelled { throw error }
            throw ProviderCancellation()
        }
    }

    /// Begins a wait for the bytes of a request.
    ///
    /// - Returns: The wait. Nil when the current task belongs to no running closure of this pipeline. Also nil when the
    ///   request may not use the network, because it then waits for no closure.
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
            let reason = "inside its own closure: the load would deadlock"
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

    /// Returns whether one of `starts` is one of `goals`, or waits for one directly or indirectly.
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
        switch request.source {
        case .provider, .imageProvider: nodes.append(.provider(request.source.resource))
        case .http, .file, .dataURL, .bytes, .image, .url: break
        }
        return nodes
    }
}

/// The error of a closure that threw `CancellationError` although its task was not canceled.
struct ProviderCancellation: Error, CustomStringConvertible {
    var description: String { "it canceled its own work" }

    /// Returns whether this is the error, or the cause of a downloader's error.
    static func isCause(of error: any Error) -> Bool {
        if error is Self { return true }
        // A downloader of the app may throw an error of any type.
        return (error as? any CodedError)?.cause is Self
    }
}
