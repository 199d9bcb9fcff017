import AlcedoCore
import AlcedoWebP
import Foundation
import TestSupport
import Testing

/// The loop over the C library with which benchmarks compare the decoder. It must do the same work.
@Suite struct WebPReferenceTests {
    @Test(arguments: ["lossy.webp", "lossless-alpha.webp"])
    func `every pixel of a valid file is decoded`(name: String) throws {
        let data = try fixture(name)
        let size = try WebPDecoder().inspect(data, limits: DecodingLimits()).size
        #expect(WebPReference.decode(data) == size.pixelCount)
    }

    @Test func `data that is not an image or ends in its header yields no pixels`() throws {
        #expect(WebPReference.decode(Data()) == 0)
        #expect(WebPReference.decode(Data("rubbish, of no format at all".utf8)) == 0)
        #expect(WebPReference.decode(try fixture("lossy.webp").prefix(24)) == 0)
    }
}
