import AlcedoCore

/// The credentials that servers have taken, or are being shown, by origin.
final class CredentialMemory: Sendable {
    private let uses = Locked<[String: CredentialUse]>([:])

    /// What to show a server, counted as used.
    func use(for origin: String) -> CredentialUse? {
        uses.withLock { uses in
            uses[origin]?.count += 1
            return uses[origin]
        }
    }

    func credential(for origin: String) -> HTTPCredential? { uses.withLock { $0[origin]?.credential } }

    func store(_ use: CredentialUse, for origin: String) { uses.withLock { $0[origin] = use } }

    /// Forgets a credential that was refused, if it is still the one.
    func forget(_ credential: HTTPCredential, of origin: String) {
        uses.withLock { uses in
            if uses[origin]?.credential == credential { uses[origin] = nil }
        }
    }
}
