import TestSupport

/// Observation tokens that are held until a test releases them.
final class Observation: Sendable {
    private let tokens: Guarded<[any Sendable]>

    init(_ tokens: any Sendable...) { self.tokens = Guarded(tokens) }

    /// Holds another token too.
    func hold(_ token: any Sendable) { tokens.change { $0.append(token) } }

    /// Releases the tokens.
    func end() {
        let old = tokens.change { tokens in
            defer { tokens = [] }
            return tokens
        }
        withExtendedLifetime(old) {}
    }
}
