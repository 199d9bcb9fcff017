import AlcedoCore
public import AlcedoLibc
import AlcedoRuntime

/// A value that many threads may read at once, with a value for each lane in which readers count.
///
/// A reader locks one lane, its thread's own, so readers do not meet, not even in one cache line; a writer locks all
/// lanes. That makes writing dearer by some nanoseconds a lane. With one lane it is a plain lock. (Known as big-reader
/// lock: "brlock" in Linux 2.4, "lglock" later.) Hold it for a few memory accesses only. Not recursive.
///
/// `@unchecked` because of the pointers: `value` is written under all lanes and read under at least one; a lane's value
/// are touched under that lane.
@usableFromInline
struct ReadMostlyLock<Value: Sendable, LaneValue: Sendable>: ~Copyable, @unchecked Sendable {
    /// Two cache lines, because processors fetch them in pairs.
    @inlinable
    static var alignment: Int { 128 }
    /// The offset of the lane's value from its lock.
    @usableFromInline static var laneValueOffset: Int { 64 }

    @usableFromInline let lanes: UnsafeMutableRawPointer
    @usableFromInline let laneStride: Int
    /// A power of two.
    @usableFromInline let laneCount: Int
    @usableFromInline let value: UnsafeMutablePointer<Value>
    /// Beside the lanes, where it is read without a look at whether it has been made.
    @usableFromInline let threadNumber = ThreadNumber()

    /// - Parameters:
    ///   - laneCount: How many readers do not meet; rounded up to a power of two.
    ///   - laneValue: The first value of every lane.
    @inlinable
    init(_ initial: consuming Value, laneValue: LaneValue, laneCount: Int) {
        var count = 1
        while count < laneCount { count *= 2 }
        self.laneCount = count
        let size = Self.laneValueOffset + MemoryLayout<LaneValue>.stride
        laneStride = (size + Self.alignment - 1) / Self.alignment * Self.alignment
        lanes = .allocate(byteCount: laneStride * count, alignment: Self.alignment)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
        for lane in 0..<count {
            mutex(lane).initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex(lane), nil)
            self.laneValue(lane).initialize(to: laneValue)
        }
    }

    deinit {
        for lane in 0..<laneCount {
            pthread_mutex_destroy(mutex(lane))
            laneValue(lane).deinitialize(count: 1)
        }
        lanes.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` while nobody writes; others may read. `body` has the value of the lane alone. The value comes by
    /// pointer, so that reading a part of it copies, and retains, nothing else; the pointer is good in `body` only.
    @inlinable
    borrowing func withSharedLock<Result>(_ body: (UnsafePointer<Value>, inout LaneValue) -> Result) -> Result {
        let lane = laneCount == 1 ? 0 : threadNumber.current & (laneCount - 1)
        pthread_mutex_lock(mutex(lane))
        defer { pthread_mutex_unlock(mutex(lane)) }
        return body(UnsafePointer(value), &laneValue(lane).pointee)
    }

    /// Runs `body` on the value, alone, with the value of the first lane.
    @inlinable
    borrowing func withLock<Result>(_ body: (inout Value, inout LaneValue) -> Result) -> Result {
        for lane in 0..<laneCount { pthread_mutex_lock(mutex(lane)) }
        defer { for lane in 0..<laneCount { pthread_mutex_unlock(mutex(lane)) } }
        return body(&value.pointee, &laneValue(0).pointee)
    }

    /// Runs `body` on the value and the values of every lane, alone.
    @inlinable
    borrowing func withAllLanes<Result>(_ body: (inout Value, [LaneValue]) -> Result) -> Result {
        withLock { value, _ in body(&value, (0..<laneCount).map { laneValue($0).pointee }) }
    }

    @inlinable
    func mutex(_ lane: Int) -> UnsafeMutablePointer<pthread_mutex_t> {
        (lanes + lane * laneStride).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    @inlinable
    func laneValue(_ lane: Int) -> UnsafeMutablePointer<LaneValue> {
        (lanes + lane * laneStride + Self.laneValueOffset).assumingMemoryBound(to: LaneValue.self)
    }
}

/// Numbers threads in the order in which they first ask, so that a few threads get different ones.
@usableFromInline
struct ThreadNumber: Sendable {
    /// The key under which the system's library keeps a thread's number, plus one; nil when it has no key left.
    private static let shared: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
    private static let last = Locked(0)

    @usableFromInline let key: pthread_key_t?

    @usableFromInline init() { key = Self.shared }

    /// The calling thread's number, the same at every call: 0, 1, 2 and so on. A few nanoseconds.
    @inlinable var current: Int {
        guard let key else { return 0 }
        let known = Int(bitPattern: pthread_getspecific(key))
        return known > 0 ? known - 1 : Self.enroll(key)
    }

    @usableFromInline
    static func enroll(_ key: pthread_key_t) -> Int {
        let number = last.withLock { last in
            last += 1
            return last
        }
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number - 1
    }
}
