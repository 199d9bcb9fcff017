/// A closure of the app's, of those in the rules.
enum AppClosure {
    /// Runs one, and names what it is where it fails.
    ///
    /// - Throws: ``DownloadError``, `hook` for errors that are none, or `CancellationError`.
    static func run<Value: Sendable>(_ name: String, _ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let error as CancellationError {
            throw error
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.hook, "\(name) failed: \(error)", cause: error)
        }
    }
}
