import AlcedoCore
import AlcedoTesting

/// The checks that a backend fails, by their descriptions.
func failures<Backend, Options>(
    of checks: [ConformanceCheck<Backend, Options>], _ make: @escaping @Sendable (Options) throws -> Backend
) async -> Set<String> {
    await withTaskGroup(of: String?.self) { group in
        for check in checks {
            group.addTask {
                do {
                    try await check(make)
                    return nil
                } catch {
                    return check.description
                }
            }
        }
        return await group.reduce(into: []) { if let failed = $1 { $0.insert(failed) } }
    }
}

/// A value that backends keep behind a lock.
final class Guarded<Value: Sendable>: Sendable {
    private let state: Locked<Value>

    init(_ value: Value) { state = Locked(value) }

    var value: Value { state.withLock { $0 } }

    @discardableResult
    func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result { state.withLock { change(&$0) } }
}
