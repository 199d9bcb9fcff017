@testable import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

@Suite struct ColorTransformCacheTests {
    private func key(
        gamma: Double, space: OutputColorSpace = .sRGB, depth: Int = 8
    ) -> ColorTransform.Key {
        let profile = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.gamma(gamma)).data
        return ColorTransform.Key(profile: profile, space: space, depth: depth, compensatesBlackPoint: true)
    }

    @Test func `equal profiles share a conversion, and other parameters do not`() throws {
        let cache = ColorTransformCache(entryLimit: 8, byteLimit: 1 << 20)
        let first = try cache.transform(key(gamma: 1.5))
        #expect(try cache.transform(key(gamma: 1.5)) === first)
        #expect(try cache.transform(key(gamma: 1.6)) !== first)
        #expect(try cache.transform(key(gamma: 1.5, space: .displayP3)) !== first)
        #expect(try cache.transform(key(gamma: 1.5, depth: 16)) !== first)
        #expect(cache.count == 4)
    }

    @Test func `the least recently used conversion is removed`() throws {
        let cache = ColorTransformCache(entryLimit: 2, byteLimit: 1 << 20)
        let first = try cache.transform(key(gamma: 1.5))
        let second = try cache.transform(key(gamma: 1.6))
        _ = try cache.transform(key(gamma: 1.5))
        _ = try cache.transform(key(gamma: 1.7))
        #expect(cache.count == 2)
        #expect(try cache.transform(key(gamma: 1.5)) === first)
        #expect(try cache.transform(key(gamma: 1.6)) !== second)
    }

    @Test func `profiles stay within the byte limit`() throws {
        let byteCount = try #require(key(gamma: 1).profile?.count)
        let cache = ColorTransformCache(entryLimit: 8, byteLimit: 2 * byteCount)
        for gamma in [1.5, 1.6, 1.7] { _ = try cache.transform(key(gamma: gamma)) }
        #expect(cache.count == 2)
        let small = ColorTransformCache(entryLimit: 8, byteLimit: byteCount - 1)
        _ = try small.transform(key(gamma: 1.5))
        #expect(small.count == 0)
    }

    @Test func `the error of an unusable profile is kept`() throws {
        let cache = ColorTransformCache(entryLimit: 8, byteLimit: 1 << 20)
        var broken = key(gamma: 1.5)
        broken.profile = Data("broken".utf8)
        for _ in 0..<2 { #expect(code { _ = try cache.transform(broken) } == .invalidProfile) }
        #expect(cache.count == 1)
    }
}
