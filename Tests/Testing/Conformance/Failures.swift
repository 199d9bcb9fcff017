import AlcedoTesting

/// Returns the descriptions of the checks that a backend fails.
func failures<Backend>(
    of checks: [ConformanceCheck<Backend>], _ make: @escaping @Sendable (ConformanceOptions) throws -> Backend
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
