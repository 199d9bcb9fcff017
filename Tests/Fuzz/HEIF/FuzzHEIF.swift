import AlcedoHEIF
import FuzzSupport

/// The entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    DecoderFuzz(.heifInProcess).run(UnsafeBufferPointer(start: bytes, count: count))
    return 0
}
