import AlcedoCore
import AlcedoRuntime
import Synchronization

/// The waits of provider closures for bytes, so that a closure that would wait for itself gets an error.
///
/// A closure is known by the identity of its source, because a downloader runs it once for all requests with that identity,
/// and by the load that runs it, because a pipeline runs one for all requests that share it, whatever their sources.
final class ProviderWaits: Sendable {
    /// What a wait is for: the closure of an identity, or a load of the pipeline.
    fileprivate enum Name: Hashable, Sendable {
        case provider(ResourceKey)
        case load(SharedWork)
    }

    /// One run of a closure. Tasks that it started may outlive it.
    fileprivate final class Run: Sendable {
        let waits: ProviderWaits
        let identity: String
        let names: [Name]
        let hasEnded = Atomic<Bool>(false)

        init(_ waits: ProviderWaits, _ identity: String, _ names: [Name]) {
            (self.waits, self.identity, self.names) = (waits, identity, names)
        }
    }

    /// A wait of a closure that runs. Ends with ``end()``.
    struct Wait: Sendable {
        fileprivate let run: Run
        fileprivate let awaited: [Name]

        func end() { run.waits.forget(run.names, awaiting: awaited) }
    }

    /// The closure that the current task works for.
    @TaskLocal private static var current: Run?

    /// The number of waits for each awaited closure, by the waiting closure.
    private let counts = Locked<[Name: [Name: Int]]>([:])

    /// Returns the source of a request. While its closure runs, the loads that the closure begins are known as its own.
    func tracked(_ request: ImageRequest) -> ImageSource {
        guard case .provider(let identity, let provide) = request.source else { return request.source }
        let names = Self.names(request)
        return .provider(identity: identity) { [self] in
            let run = Run(self, identity, names)
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
        let awaited = Self.names(request)
        let isCycle = counts.withLock { counts in
            if Self.reaches(run.names, from: awaited, counts) { return true }
            for waiter in run.names {
                for name in awaited { counts[waiter, default: [:]][name, default: 0] += 1 }
            }
            return false
        }
        if isCycle {
            let reason = "inside its own closure: the load would wait for itself"
            throw PipelineError(.download, "cannot load the provider \(run.identity) \(reason)")
        }
        return Wait(run: run, awaited: awaited)
    }

    private func forget(_ waiters: [Name], awaiting awaited: [Name]) {
        counts.withLock { counts in
            for waiter in waiters {
                for name in awaited {
                    let left = (counts[waiter]?[name] ?? 1) - 1
                    counts[waiter]?[name] = left == 0 ? nil : left
                }
                if counts[waiter]?.isEmpty == true { counts[waiter] = nil }
            }
        }
    }

    /// Whether one of `starts` is one of `goals`, or waits for one, perhaps through others.
    private static func reaches(
        _ goals: [Name], from starts: [Name], _ counts: [Name: [Name: Int]]
    ) -> Bool {
        var seen = Set(starts)
        var rest = starts
        while let name = rest.popLast() {
            if goals.contains(name) { return true }
            for next in (counts[name] ?? [:]).keys where seen.insert(next).inserted { rest.append(next) }
        }
        return false
    }

    private static func names(_ request: ImageRequest) -> [Name] {
        var names = [Name.load(SharedWork(request))]
        if case .provider = request.source { names.append(.provider(request.source.resource)) }
        return names
    }
}
