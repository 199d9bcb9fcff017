/// Ends an observation when it goes.
final class MemoryPressureToken: Sendable {
    private let hub: MemoryPressureHub
    private let id: Int

    init(hub: MemoryPressureHub, id: Int) { (self.hub, self.id) = (hub, id) }

    deinit { hub.remove(id) }
}
