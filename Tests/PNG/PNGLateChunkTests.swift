import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

/// Chunks between the pixels and the end of the file.
@Suite struct PNGLateChunkTests {
    @Test(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory))
    func `unknown chunks after the pixels are not collected`() async {
        // In its own process, because other tests use memory too.
        await #expect(processExitsWith: .success) {
            let file = try fixture("rgb.png")
            let piece = Data(count: 1 << 10)
            let pieceCount = 6 << 10
            // The first round is not checked, because an emulator translates its code into memory of the process.
            for (round, name) in ["ABCD", "ABCD", "PLTE", "IEND", "abCd"].enumerated() {
                let decoder = PNGDecoder().makeIncrementalDecoder(options: DecodingOptions())
                try decoder.append(file.dropLast(12))
                let header = PNGWriter.chunk(name, [], claimed: UInt32(piece.count * pieceCount)).prefix(8)
                try decoder.append(Data(header))

                // If these were collected and copied for every piece, 18 GiB would be copied.
                let growth = try memoryGrowth { for _ in 0..<pieceCount { try decoder.append(piece) } }

                #expect(round == 0 || growth < 1 << 20, "\(name)")
            }
        }
    }

    @Test(arguments: ["ABCD", "PLTE", "IHDR", "IEND", "abCd", "eXIf"], [true, false])
    func `a long chunk after the pixels is treated like a short one`(name: String, isIntact: Bool) throws {
        let file = try fixture("rgb.png")
        func code(_ length: Int) -> ImageDecodingError.Code? {
            var chunk = PNGWriter.chunk(name, [UInt8](repeating: 1, count: length))
            if !isIntact { chunk[chunk.count - 1] ^= 1 }
            let data = Data(file.prefix(file.count - 12)) + chunk + PNGWriter.end
            let pieces = PNGDecoder().makeIncrementalDecoder(options: DecodingOptions())
            let code = errorCode(data)
            do throws(ImageDecodingError) {
                for byte in data { try pieces.append(Data([byte])) }
                _ = try pieces.finish()
                #expect(code == nil, "\(length) bytes")
            } catch {
                #expect(code == error.code, "\(length) bytes")
            }
            return code
        }

        #expect(code(3_000) == code(300))
        #expect(code(3_000) == code(768))
        #expect(code(769) == code(768))
    }
}
