/// An array of the values that a policy keeps for each slot. Memory of 256 KiB and more returns to the system when it
/// is released.
///
/// The memory of a released Swift array can become the unused end of a thread's `malloc` arena, which `malloc_trim`
/// does not return to the system. After a purge, a cache that was large once would keep that memory.
///
/// Copies are independent, and share their memory until one of them changes. Indices are checked in debug builds only,
/// because all slots come from the cache itself.
struct SlotArray<Element: BitwiseCopyable & Sendable>: Sendable {
    private var buffer: StableBuffer<Element>

    init() { buffer = StableBuffer() }

    init(repeating element: Element, count: Int) { buffer = StableBuffer(repeating: element, count: count) }

    var count: Int { buffer.count }

    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> Element {
        get { buffer[index] }
        set {
            makeUnique()
            buffer[index] = newValue
        }
        _modify {
            makeUnique()
            yield &buffer[index]
        }
    }

    mutating func append(_ element: Element) {
        makeUnique()
        buffer.append(element)
    }

    private mutating func makeUnique() {
        guard !isKnownUniquelyReferenced(&buffer.owner) else { return }
        let shared = buffer
        buffer = StableBuffer()
        for index in 0..<shared.count { buffer.append(shared[index]) }
    }
}
