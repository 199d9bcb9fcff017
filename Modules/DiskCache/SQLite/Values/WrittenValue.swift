/// A value that is being written, and that no row names yet. Locked as long as this lives, so that no other process
/// takes it for what a crash left behind.
struct WrittenValue: ~Copyable {
    let name: ValueName
    let file: Descriptor
    /// The bytes that the file occupies, once it is written.
    var occupiedSize = 0

    init(name: ValueName, file: consuming Descriptor) {
        self.name = name
        self.file = file
    }
}
