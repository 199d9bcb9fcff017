import Alcedo
import Foundation
import Testing

@testable import AlcedoTool

@Suite struct ProfileReportTests {
    @Test func `an ink profile in another format than JPEG is unusable`() throws {
        // The decoder of JPEG XL converts inks by a formula.
        let info = ImageInfo(
            format: ImageFormat(rawValue: "jxl"), size: PixelSize(width: 1, height: 1), colorModel: .cmyk,
            metadata: ImageMetadata(colorProfile: Data("profile".utf8)))
        let report = try #require(ProfileReport(info))
        #expect(report.use == .unusable)
        #expect(report.error == "color: inks of this format are converted by a formula")
    }

    @Test func `a profile that the decoder ignores is reported`() throws {
        var metadata = ImageMetadata()
        metadata.hasIgnoredColorProfile = true
        let size = PixelSize(width: 1, height: 1)

        let report = try #require(ProfileReport(ImageInfo(format: .png, size: size, metadata: metadata)))

        #expect(report.use == .unusable)
        #expect(report.byteCount == nil)
        #expect(report.text == "unusable: color: the profile is damaged, does not fit the image or is too large")
        #expect(ProfileReport(ImageInfo(format: .png, size: size))?.use == nil)
    }
}
