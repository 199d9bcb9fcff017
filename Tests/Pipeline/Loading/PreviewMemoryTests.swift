import AlcedoCodecs
import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Returns a large white image in a small file.
private func large(_ name: String) throws -> (any ImageDecoding, Data) {
    let size = PixelSize(width: 3_000, height: 3_000)
    let pixels = try #require(
        PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
            memory.initializeMemory(as: UInt8.self, repeating: 255)
        })
    let image = DecodedImage(pixels: pixels)
    switch name {
    case "png":
        let straight = DecodedImage(pixels: pixels.reinterpreted(as: .straight))
        return (PNGDecoder(), try PNGEncoder(compressionLevel: 1).encode(straight))
    case "jpeg":
        return (JPEGDecoder(), try JPEGEncoder(subsampling: .none, isProgressive: true).encode(image))
    case "webp": return (WebPDecoder(), try WebPEncoder(compression: .lossy(quality: 1), method: 0).encode(image))
    default: return (GIFDecoder(), try largeFrame())
    }
}

/// Returns a GIF of one pixel whose only frame declares 3000 by 3000 and contains thirty rows.
private func largeFrame() throws -> Data {
    let pixels = try #require(
        PixelBuffer(size: PixelSize(width: 3_000, height: 30), format: .gray8, alphaMode: .opaque))
    var file = try GIFEncoder().encode(DecodedImage(pixels: pixels))
    let frame = try #require(file.firstRange(of: [0x2C, 0, 0, 0, 0, 0xB8, 0x0B, 30, 0]))
    file.replaceSubrange(frame.upperBound - 2..<frame.upperBound, with: [0xB8, 0x0B])
    file.replaceSubrange(6..<10, with: [1, 0, 1, 0])
    return file
}

@Suite struct PreviewMemoryTests {
    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(
            .spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory),
            arguments: ["gif", "jpeg", "png", "webp"])
        func `decoding and previews use no more memory than the decoder announces, and none before`(name: String)
            async
        {
            // In its own process, because other tests use memory too.
            await #expect(processExitsWith: .success) { [name] in
                let (codec, file) = try large(name)
                for options in [
                    DecodingOptions(target: TargetSize(width: 60, height: 60)), DecodingOptions(),
                    DecodingOptions(alphaMode: .premultiplied),
                ] {
                    let decoder = codec.makeIncrementalDecoder(options: options)
                    var rest = file[...]
                    let (_, header) = try ResidentMemory.growth {
                        while decoder.decodingByteCount == nil, !rest.isEmpty {
                            try decoder.append(Data(rest.prefix(4_096)))
                            rest = rest.dropFirst(4_096)
                        }
                    }
                    let byteCount = try #require(decoder.decodingByteCount)
                    var isShown = false
                    let (_, growth) = try ResidentMemory.growth {
                        let half = rest.count / 2
                        try decoder.append(Data(rest.prefix(half)))
                        var preview = try decoder.preview()
                        isShown = preview != nil
                        // Not into the displayed image.
                        try decoder.append(Data(rest.dropFirst(half)))
                        preview = nil
                        preview = try decoder.preview()
                        if preview != nil { isShown = true }
                    }

                    #expect(header < 2 << 20, "\(header) bytes for the header")
                    #expect(growth < byteCount + 4 << 20, "\(growth) bytes of \(byteCount), \(options)")
                    if options.target == nil {
                        // For a frame of nine million pixels, whatever the canvas.
                        #expect(byteCount >= 36_000_000, "\(growth) bytes of \(byteCount)")
                        #expect(growth > byteCount / 3, "\(growth) bytes of \(byteCount)")
                    }
                    #expect(isShown)
                }
            }
        }
    #endif
}
