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
