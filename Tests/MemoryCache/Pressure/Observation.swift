import AlcedoTesting
import TestSupport

/// Observation tokens that are held until a test releases them.
final class Observation: Sendable {
    private let tokens: Watched<[any Sendable]>

    init(_ tokens: any Sendable...) { self.tokens = Watched(tokens) }

    /// Holds another token too.
    func hold(_ token: any Sendable) { tokens.update { $0.append(token) } }

    /// Releases the tokens.
    func end() {
        let old = tokens.update { tokens in
            defer { tokens = [] }
            return tokens
        }
        withExtendedLifetime(old) {}
    }
}
