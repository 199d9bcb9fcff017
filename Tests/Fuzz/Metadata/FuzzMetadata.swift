@testable import AlcedoCore
import Foundation

/// The entry point that libFuzzer calls with every input, which is EXIF data, an XMP packet, an IPTC record or image
/// resources with one. The other parsers reject it at once.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = Data(UnsafeBufferPointer(start: bytes, count: count))
    let resources = PhotoshopResources.iptc(in: data)
    let metadata = ImageMetadata(
        exif: data, xmp: data, iptc: resources.record ?? data, iptcDigest: resources.digest ?? Data())
    check(PhotoProperties(metadata))
    if let place = GPSCoordinates(metadata) {
        require(abs(place.latitude) <= 90 && abs(place.longitude) <= 180, "a place is not on the earth")
        require(place.altitude?.isFinite != false, "an altitude is not a number")
    }
    for selection in [MetadataSelection.withoutLocation, .copyright] {
        let kept = metadata.selected(selection)
        require(!PhotoProperties(kept).hasGPS, "a location is left")
        require(GPSCoordinates(kept) == nil, "coordinates are left")
    }
    return 0
}

private func check(_ photo: PhotoProperties) {
    let positive = [photo.exposureTime, photo.fNumber, photo.focalLength, photo.focalLengthIn35mmFilm]
    require(positive.allSatisfy { $0.map { $0 > 0 && $0.isFinite } != false }, "a number is out of range")
    require(photo.exposureBias?.isFinite != false && photo.isoSpeed.map { $0 > 0 } != false, "a number is out of range")
    let texts = [photo.make, photo.model, photo.lensMake, photo.lensModel, photo.copyright, photo.title]
    for text in (texts + [photo.description] + photo.artists).compactMap({ $0 }) {
        require(text.first?.isWhitespace == false && text.last?.isWhitespace == false, "a text is not trimmed")
    }
    for date in [photo.dateTimeOriginal, photo.dateTimeDigitized, photo.dateTimeModified].compactMap({ $0 }) {
        require(PhotoDate(date.description)?.description == date.description, "a date is read differently")
        require(date.date.map { $0.timeIntervalSince1970.isFinite } != false, "an instant is not a number")
    }
}

private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(message())
}
