import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoPipeline

struct DigestMetadataTests {
    @Test(arguments: [0, 1, 0x0102_0304_0506_0708, .max] as [UInt64])
    func `a digest is read as it was written`(digest: UInt64) {
        let data = DigestMetadata.data(digest)
        #expect(DigestMetadata.digest(in: data) == digest)
        #expect(DigestMetadata.digest(in: (Data([1]) + data).dropFirst()) == digest)
    }

    @Test func `other metadata has no digest`() {
        let whole = DigestMetadata.data(7)
        for metadata in [Data(), whole.dropLast(), whole + [0], Data([0xA1] + whole.dropFirst()), Data(count: 9)] {
            #expect(DigestMetadata.digest(in: metadata) == nil)
        }
        #expect(DigestMetadata.data(nil).isEmpty)
    }

    @Test func `an image cache reads it as metadata with default values`() {
        #expect(ImageCacheMetadata(DigestMetadata.data(7)) == ImageCacheMetadata())
    }
}
