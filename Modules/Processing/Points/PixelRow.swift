/// The pixels of one row as floats; shared by the calls of one piece of work.
final class PixelRow {
    private let memory: Scratch<SIMD4<Float>>
    var base: UnsafeMutablePointer<SIMD4<Float>> { memory.base }

    init(_ width: Int) { memory = Scratch(count: width) }
}
