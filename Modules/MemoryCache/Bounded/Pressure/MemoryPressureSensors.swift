/// What a watching thread looks at; a test has its own.
struct MemoryPressureSensors: Sendable {
    /// Each makes triggers, the preferred ones first. One that gives none is passed over.
    var triggers: [@Sendable () -> StallTriggers] = []
    /// Reads the figures, including those of the machine when asked to.
    var read: @Sendable (_ includesAvailable: Bool) -> MemoryReadings = { _ in MemoryReadings() }

    init() {}

    /// The pressure of the own control group, or else of the machine; the figures of both.
    init(files: SystemFiles) {
        let groups = ControlGroups(files: files)
        let paths = (groups.unified.first.map { [$0 + "/memory.pressure"] } ?? []) + ["/proc/pressure/memory"]
        triggers = paths.map { path in { StallTriggers(arming: files.path(path)) } }
        let reader = MemoryReader(files: files, groups: groups)
        read = { reader.read(includesAvailable: $0) }
    }
}
